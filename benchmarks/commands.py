"""Commands timed by hyperfine and by `ramgape run`, in turns: `python -m benchmarks.jobs --job commands`.

For each set of commands: runs and seconds that each tool uses by default; pairs of commands in the wrong order; and how
often the printed interval of a ratio has the true one in it. The truth is that of many runs in turns, which no tool
has made. `--job precision` has both tools make runs of commands of known length and compares means and spreads.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ramgape.commands.process import Child, Launcher

PYTHON = sys.executable
SETS: dict[str, tuple[str, ...]] = {
    "compressors": tuple(f"{tool} -c words.txt" for tool in ("gzip -1", "gzip -6", "bzip2", "xz -0")),
    "levels": tuple(f"gzip -{level} -c words.txt" for level in (1, 3, 5, 6, 7)),
    "sort": ("sort lines.txt", "sort -u lines.txt", "sort --parallel=1 lines.txt", "env LC_ALL=C sort lines.txt"),
    "interpreters": ("sh -c :", "bash -c :", "perl -e 0", f"{PYTHON} -S -c pass", f"{PYTHON} -c pass"),
    "1 ms": ("true", "echo x", "sleep 0.001"),
    "scan": tuple(f"head -c {size}000000 /dev/zero" for size in (1, 2, 4, 8, 16)),
}
LENGTHS = (0.001, 0.002, 0.005, 0.02, 0.1)
APART = 1.02  # a pair whose true ratio is less has no order that could be wrong
AT_ONCE = 50  # runs of a tool, before it is the other one's turn


def tools(folder: str) -> dict[str, list[str]]:
    """How each tool is called; both without a shell."""
    return {
        "hyperfine": ["hyperfine", "-N", "--style", "none", "--export-json", f"{folder}/out.json"],
        "ramgape": [PYTHON, "-m", "ramgape", "run", "-N", "--style", "none", "--export-json", f"{folder}/out.json"],
    }


def write_data(folder: str) -> None:
    """The files that commands read."""
    generator = np.random.default_rng(1)
    words = [f"{word:x}" for word in generator.zipf(1.3, 400_000) % 5_000]
    Path(folder, "words.txt").write_text(" ".join(words))
    Path(folder, "lines.txt").write_text("\n".join(words[:100_000]))


@dataclass
class Found:
    """What a tool did with a set of commands, over all repetitions."""

    runs: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0
    pairs: int = 0
    covered: int = 0
    intervals: int = 0


def true_means(commands: Sequence[str], folder: str, runs: int) -> dict[str, float]:
    """The means of many runs in turns, each round in another order."""
    taken: dict[str, list[float]] = {command: [] for command in commands}
    with Path(os.devnull).open("r+b") as nowhere, tempfile.TemporaryFile() as notes:
        launcher = Launcher(Path(folder), notes.fileno(), 0)
        for _ in range(runs):
            for command in random.sample(list(commands), len(commands)):
                child = Child(launcher, command.split(), os.environ, (nowhere.fileno(),) * 3)
                child.wait()
                taken[command].append(child.seconds)
        launcher.close()
    return {command: statistics.fmean(times) for command, times in taken.items()}


def judge(found: Found, results: list[dict[str, object]], truth: dict[str, float]) -> None:
    """Count pairs in the wrong order."""
    means = {str(each["command"]): float(str(each["mean"])) for each in results}
    for one, other in itertools.combinations(truth, 2):
        quick, slow = sorted((one, other), key=lambda name: truth[name])
        if truth[slow] >= APART * truth[quick]:
            found.pairs += 1
            found.wrong += means[slow] < means[quick]


def compare(repeats: int, reference: int, sets: Sequence[str]) -> str:
    """Both tools on all sets; a table in Markdown."""
    lines = ["| set | tool | runs | seconds | wrong order | intervals that cover |", "|---|---|--:|--:|--:|--:|"]
    for name in sets:
        with tempfile.TemporaryDirectory() as folder:
            write_data(folder)
            found: dict[str, Found] = defaultdict(Found)
            truth = true_means(SETS[name], folder, reference)
            for turn in range(repeats):
                order = list(tools(folder).items())
                for tool, words in order if turn % 2 else order[::-1]:
                    begun = time.perf_counter()
                    printed = subprocess.run(
                        [*words, *SETS[name], *(["--json"] if tool == "ramgape" else [])],
                        cwd=folder,
                        check=True,
                        capture_output=True,
                        text=True,
                    ).stdout
                    each = found[tool]
                    each.seconds.append(time.perf_counter() - begun)
                    results = json.loads(Path(folder, "out.json").read_text())["results"]
                    each.runs.append(sum(len(result["times"]) for result in results))
                    judge(each, results, truth)
                    if tool == "ramgape":
                        count_covered(each, json.loads(printed)["arms"], truth)
            for tool, each in sorted(found.items()):
                covered = f"{each.covered} of {each.intervals}" if each.intervals else ""
                cells = f"{statistics.fmean(each.runs):,.0f} | {statistics.fmean(each.seconds):.1f}"
                lines.append(f"| {name} | {tool} | {cells} | {each.wrong} of {each.pairs} | {covered} |")
            print(lines[-2], lines[-1], sep="\n", file=sys.stderr)
    return "\n".join(lines)


def count_covered(found: Found, arms: list[dict[str, object]], truth: dict[str, float]) -> None:
    """Count printed intervals of ratios that have the true one in them."""
    fastest = next(str(arm["name"]) for arm in arms if arm["times_as_long"] == 1.0)
    for arm in arms:
        ends = arm["times_as_long_interval"]
        if isinstance(ends, list):
            low, high = ends[0] or 0.0, math.inf if ends[1] is None else ends[1]
            found.intervals += 1
            found.covered += low <= truth[str(arm["name"])] / truth[fastest] <= high


def precision(runs: int) -> str:
    """Means and spreads of commands of some lengths by both tools, which take turns."""
    lines = ["| command | hyperfine: mean, std (ms) | ramgape | difference of means | ratio of stds |"]
    lines.append("|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for length in LENGTHS:
            taken: dict[str, list[float]] = defaultdict(list)
            for turn in range(max(runs // AT_ONCE, 1)):
                order = list(tools(folder).items())
                for tool, words in order if turn % 2 else order[::-1]:
                    subprocess.run([*words, "-r", str(AT_ONCE), f"sleep {length}"], check=True)
                    taken[tool] += json.loads(Path(folder, "out.json").read_text())["results"][0]["times"]
            theirs, ours = (1e3 * np.array(taken[tool]) for tool in ("hyperfine", "ramgape"))
            cells = [f"{times.mean():.3f}, {times.std(ddof=1):.3f}" for times in (theirs, ours)]
            difference = ours.mean() - theirs.mean()
            cells += [f"{difference:+.3f} ms ({100.0 * difference / theirs.mean():+.1f}%)"]
            cells += [f"{ours.std(ddof=1) / theirs.std(ddof=1):.2f}"]
            lines.append(f"| sleep {length} | {' | '.join(cells)} |")
    return "\n".join(lines)

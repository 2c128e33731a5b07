# %% [markdown]
# # Five ways to sort, timed
#
# A file of numbers is to be sorted. Five commands do it, with the same outcome. Which is the fastest, and how sure is
# that?
#
# **Data**: none but the times. The numbers are drawn at random and written with leading zeros, so that all five
# commands leave them in the same order. This page was made on a machine with two cores, which were busy with other
# work, too.

# %%
import json
import random
from pathlib import Path

import recorded

from ramgape.views.plots import style

draw = random.Random(1)
count = recorded.scaled(100_000, 20_000)
Path("numbers.txt").write_text("".join(f"{draw.randrange(10**9):09}\n" for _ in range(count)))
recorded.shell(
    rf"""ramgape run --seed 1 --export-json times.json --max-runs {recorded.scaled(100, 12)} \
    -n bytes 'LC_ALL=C sort numbers.txt' \
    -n locale 'LC_ALL=C.UTF-8 sort numbers.txt' \
    -n numeric 'sort -n numbers.txt' \
    -n general 'sort -g numbers.txt' \
    -n perl 'perl -e "print sort <>" numbers.txt'"""
)

# %%
found = json.loads(Path("times.json").read_text())["results"]
found.sort(key=lambda each: -each["mean"])
with style.applied():
    figure = style.new_figure(7, 2.8)
    axes = figure.subplots()
    for row, each in enumerate(found):
        milliseconds = [1000 * time for time in each["times"]]
        axes.plot(milliseconds, [row] * len(milliseconds), **style.MARKS["out"].points(style.SMALL_MARKER))
        axes.plot(1000 * each["mean"], row, **style.MARKS["in"].points(style.MARKER_SIZE))
    axes.set_yticks(range(len(found)), [each["command"] for each in found])
    axes.set(xlabel="Milliseconds: hollow a run, filled the mean", xlim=(0, None))
style.save(figure, "sorting.svg")

# %% [markdown]
# ![Every run of the five commands, and their means](images/sorting.svg)
#
# **What it shows.** To compare bytes is the fastest; to read every line as a floating-point number, which `sort -g`
# does, takes several times as long. Each command was run ten times at least, in turns and in random order, so that a
# machine which is slower for a while slows down all of them; it ends when the fastest is known up to 5 %. If several
# run at once (`--jobs`), answers count in the order in which they were asked for (`in_order`), since a slow run is
# also the one that comes in late.
#
# **What it does not prove.** Times have no range, so what is said is approximate. It is about this file, this machine
# and this hour: numbers that are nearly in order, other locales, more cores or a disk that is not in memory would
# give other times. With a machine that is busy, as this one was, times are longer than they need be; the order is
# what lasts.

# %%
means = {each["command"]: each["mean"] for each in found}
assert means["general"] > 1.2 * min(means.values())
assert all(len(each["times"]) >= 10 for each in found)

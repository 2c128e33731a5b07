"""Experiments on the compiled engine, with verdicts: the paper's, and our own benchmark.

paper          what the paper prints: settings, numbers
scale          how much of them is run: all of it, or a quick part
stopping       Experiment 1, its tight variants, Gaussian rewards
crosses        Experiment 2
regret         Experiments 3 and 4, pulling ratios
geometry       the gap geometry of appendix A
theorems       the theorems, checked
overall        what only several experiments together can show
reproduction   all of it: `ramgape reproduce`

methods        the bounds and sampling rules that the benchmark compares
benchmark_scale  on which instances, and how often
race           samples to stop, with `race_results` and `race_claims`
budget         answers under a budget, with `budget_results` and `budget_claims`
benchmark      all of it: `ramgape benchmark`

jobs           pieces of work that can be done apart; `cache` keeps their outcomes on disk
section        what an experiment contributes; `figures`, `page` and `formatting` present it
report         a report of several parts: runs the jobs that are missing, writes the sections
"""

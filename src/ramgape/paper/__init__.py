"""Experiments on the compiled engine, judged and told: the paper's, and our own benchmark.

paper          what the paper prints: settings, numbers
scale          how much of them is run: all of it, or a quick part
stopping       Experiment 1, its tight variants, Gaussian rewards
crosses        Experiment 2
regret         Experiments 3 and 4, pulling ratios
geometry       the gap geometry of appendix A
theorems       the theorems, checked
overall        what only several experiments together can tell
reproduction   all of it: `reproduce`

methods        the bounds and sampling rules that the benchmark compares
benchmark_scale  on which instances, and how often
race           samples to stop, with `race_results` and `race_claims`
benchmark      all of it: `benchmark`

cells          pieces of work that can be done apart; `store` keeps their outcomes on disk
chapter        what an experiment has to tell; `figures`, `report` and `words` tell it
book           a report of several parts: runs what is missing, tells what is there
"""

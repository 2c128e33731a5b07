"""Experiments on the compiled engine, with verdicts: the paper's, and our own benchmark.

reproduction   the experiments of the paper, and what only several of them can show: `ramgape reproduce`
stopping       Experiment 1, its tight variants, Gaussian rewards
exact          Experiment 2
regret         Experiments 3 and 4, pulling ratios
geometry       the gap geometry of appendix A
theorems       the theorems, checked
beyond         the same experiments with our defaults

benchmark      the methods of this package against each other: `ramgape benchmark`
benchmark_stopping  samples to stop
benchmark_budget    answers under a budget
benchmark_tasks     one arm compared with the Pareto set

paper          what the paper prints: settings, numbers
scale          methods, problems and runs of both reports, for all of them and for a quick part
jobs           pieces of work that can be done apart
statistics     means, intervals and tests
tables         result tables, and how a report shows them
section        what an experiment contributes, with its prose from `texts.toml`; `formatting` has numbers in words
figures        the figures, with `theory_figures`; `drawing` and `looks` have what they share
report         runs the jobs that are missing, writes the sections and the page
"""

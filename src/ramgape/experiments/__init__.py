"""The paper's experiments, run on the compiled engine, judged and told.

paper          what the paper prints: settings, numbers
scale          how much is run: all of it, or a quick part
cells          pieces of work that can be done apart; `store` keeps their outcomes on disk
stopping       Experiment 1, its tight variants, Gaussian rewards
crosses        Experiment 2
regret         Experiments 3 and 4, pulling ratios
geometry       the gap geometry of appendix A
theorems       the theorems, checked
overall        what only several experiments together can tell
chapter        what an experiment has to tell; `figures`, `report` and `words` tell it
reproduction   all of it: `reproduce`
"""

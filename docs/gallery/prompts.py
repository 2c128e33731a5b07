# %% [markdown]
# # Prompts against the one in use
#
# A prompt is in use, and seven others have been proposed. Which are better, by five points of a hundred or more, on
# 240 questions that a judge can grade? Not every question has to be asked of every prompt.
#
# **Data**: a recorded table of ours, eight prompts and 240 lines of expense reports with the amounts in them
# ([make_prompts.py](data/make_prompts.py)). No language model was asked: some lines of Python stand in for one, as in
# `examples/prompts.py`. The table has the form that an evaluation has, a score from 0 to 1 for every prompt and
# question; with yours `ask` would call a model and a judge.

# %%
import recorded

import ramgape

scores = recorded.prompts().head(recorded.scaled(240, 60))


def ask(prompt, question):
    return scores.at[question, prompt]


# %% [markdown]
# The study is on a server, as it would be for a team: its pages show the study live, and workers need its address
# only. Here it is `ramgape serve` on a free port of this machine, with four workers.

# %%
with recorded.served("sqlite:///prompts.db") as (address, token):
    study = ramgape.Study.create(
        "prompts",
        list(scores),
        items=list(scores.index),
        reward_range=(0, 1),
        task=ramgape.BetterThan(control="european", margin=0.05),
        epsilon=0.05,
        seed=1,
        storage=address,
        token=token,
    )
    result = study.run(ask, workers=4)
    study.close()
print(result)
print(f"asked: {result.samples:,} of {scores.size:,}")
result.save_plot("prompts.svg")

# %% [markdown]
# ![Seven prompts by how much better their mean score is than that of the prompt in use, with
# intervals](images/prompts.svg)
#
# **What it shows.** Four prompts are better than the one in use and three are not, within the tolerance, and that is
# certified after a part of all questions. The best of them were settled after a few dozen. All prompts meet the
# questions in the same random order, so that any two are compared on the same ones, and what makes a question hard
# for everybody drops out. Whoever is clearly better or worse is not asked any more.
#
# **What it does not prove.** It is about these questions and no others: with `items=ramgape.Items(questions,
# population=False)` the question is about the world that they come from, and takes more of them. The answers are
# those of a stand-in; they say nothing about language models. A judge that errs, or drifts from day to day, would be
# believed.

# %%
means = scores.mean()
assert set(result.front) == {"careful last", "european last", "examples", "step by step"}
assert all(means[name] > means["european"] for name in result.front)
assert result.samples < scores.size

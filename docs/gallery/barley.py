# %% [markdown]
# # Barley: too little to say
#
# Ten varieties of barley, grown on six sites in two years: which yields the most? Twelve plots of each are too few to
# say, and what would do can be planned.
#
# **Data**: 120 yields in bushels an acre, Immer, Hayes and Powers (1934), which Fisher and Cleveland have made
# famous, from the package `vega_datasets` (MIT; the data are facts of 1931 and 1932).

# %%
import recorded

import ramgape

barley = recorded.barley()
barley.to_csv("barley.csv", index=False)
recorded.shell(
    """ramgape analyze barley.csv --arm-column variety --reward-column yield \\
    --task best --epsilon 3 --plot barley.svg"""
)

# %% [markdown]
# ![Ten varieties by mean and standard deviation of their yields, all undecided](images/barley.svg)
#
# Undecided, all of them. Of twelve plots not even an interval is given, because what is known of it rests on large
# samples.
#
# How many plots would do? A plan takes a guess of the arms, here the ten with the means and standard deviations that
# were measured, and simulates searches. Once for plots anywhere, and once for plots whose site and year are taken out
# of the yield, as the design of the trial allows: every variety was grown at each site in each year.

# %%
adjusted = barley["yield"] - barley.groupby(["site", "year"])["yield"].transform("mean")
plans = {}
for name, yields in {"plots anywhere": barley["yield"], "within site and year": adjusted}.items():
    measured = yields.groupby(barley["variety"]).agg(["mean", "var"])
    arms = tuple(
        ramgape.Arm(variety, ramgape.Gaussian(row["mean"], row["var"])) for variety, row in measured.iterrows()
    )
    guess = ramgape.Instance(name, arms, reward_range=None, noise="gaussian")
    runs = recorded.scaled(100, 10)
    plans[name] = ramgape.plan(guess, task="best", epsilon=3, epsilons=[], deltas=[], runs=runs).chosen
    print(f"{name:22} {plans[name].mean:5.0f} plots on average, {plans[name].errors} of {runs} answers wrong")

# %% [markdown]
# **What it shows.** A table has a winner, Trebi with 39.40 bushels before Wisconsin No. 38 with 39.39, and it means
# nothing. Some thousand plots would settle it up to three bushels, and less than a third of that if varieties are
# compared within a site and a year, because most of the spread is that of sites and years. That is why agronomists
# lay out blocks.
#
# **What it does not prove.** The plan is no better than its guess, which comes from the same twelve plots, with
# normal yields; if it is wrong, a search takes more or fewer plots and its guarantee holds all the same. The twelve
# plots of a variety are no independent draws either: six sites, each of them twice. And nobody grows one plot at a
# time: an experiment in the field is planned for a season, in which all plots are laid out at once.

# %%
result = ramgape.analyze(barley, arm_column="variety", reward_column="yield", task="best", epsilon=3).result
assert all(arm.verdict == "undecided" for arm in result.arms)
assert plans["plots anywhere"].mean > 120
assert plans["within site and year"].mean < 0.6 * plans["plots anywhere"].mean

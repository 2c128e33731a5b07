# %% [markdown]
# # Portfolios: seventy years in a table
#
# Which kind of stock has brought the most, of thirty kinds: twelve industries, and small and large firms by value and
# by momentum? What does a table of 819 months prove, and what would be worth trying next?
#
# **Data**: monthly returns of portfolios, 1949 to 2017, from Kenneth French's data library, as they come with the
# package `linearmodels` (NCSA licence). S1 are the smallest firms and S5 the largest, V5 has high book-to-market and
# V1 low, M5 has risen most in the year before and M1 least.

# %%
import recorded

import ramgape

months = 100 * recorded.portfolios()
portfolios = months.loc[:, "NoDur":"S5M5"]
analysis = ramgape.analyze(portfolios, task="best", epsilon=0.5)
print(analysis.sentence)
print("undecided:", " ".join(arm.name for arm in analysis.result.arms if arm.verdict == "undecided"))
print("next:", analysis.next_pulls)

# %% [markdown]
# All portfolios rise and fall with the market, and that is most of what varies. It drops out of the question if it is
# subtracted, month by month: the mean of the difference is the difference of the means, and it is known much better.

# %%
market = months["MktRF"] + months["RF"]
against_market = ramgape.analyze(portfolios.sub(market, axis=0), task="best", epsilon=0.5).named("excess return, %")
print(against_market)
against_market.save_plot("portfolios.svg")


# %%
def width(result):
    return sum(arm.mean_interval[1] - arm.mean_interval[0] for arm in result.arms) / len(result.arms)


ahead = [arm.name for arm in against_market.result.arms if arm.mean_interval[0] > 0]
before, after = width(analysis.result), width(against_market.result)
print(f"intervals of means, on average: {before:.2f} wide alone, {after:.2f} against the market")
print("ahead of the market, as far as this goes:", *ahead)

# %% [markdown]
# ![Thirty portfolios by mean and standard deviation of their monthly return over the market's](images/portfolios.svg)
#
# **What it shows.** The same table, asked the same question, leaves all thirty portfolios undecided as it is, and six
# when months are compared with themselves. What remains is small firms that have risen (S1M5), against five others.
# Small firms after a bad year (S1M1) are out. The portfolios share their months, so each is judged by an interval of
# its own, which holds however they depend on each other. *Next* says which arms the rule would try, if it could: for
# a table of months there is nothing to try, but it names the pair on which the answer hangs.
#
# **What it does not prove.** Everything here is approximate, and the alarm says that even this assumes too much:
# returns of these portfolios change their spread over the decades, and a month bears on the next. `block=12` takes
# means of years, which bear less on each other, and leaves fewer of them. Nobody could have bought these portfolios
# at these returns: costs of trading, which are highest for small firms with momentum, are not in them. The thirty
# were made by research that had seen the data, so that the best of them look better than what comes after.

# %%
undecided = [sum(arm.verdict == "undecided" for arm in each.result.arms) for each in (analysis, against_market)]
assert undecided[1] < undecided[0] / 2
assert after < 0.7 * before
assert analysis.result.front == against_market.result.front == ("S1M5",)
assert against_market.result.alarms

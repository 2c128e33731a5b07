# %% [markdown]
# # Twenty stocks, five risks
#
# Which stocks were worth their risk depends on what counts as risk. The same monthly returns of twenty stocks, and
# five answers side by side.
#
# **Data**: daily prices of twenty large companies of the S&P 500, 1990 to 2022, adjusted for dividends and splits,
# from the package `skfolio` (BSD-3-Clause). A reward is a month's return in per cent. Nothing is stated of returns,
# so whatever is said is approximate.

# %%
import recorded

import ramgape
from ramgape.views.plots import style

returns = 100 * recorded.prices().resample("ME").last().pct_change().dropna()
risks = {
    "Standard deviation": ramgape.StandardDeviation(),
    "Mean-variance, rho 20": ramgape.MeanVariance(rho=20),
    "Semivariance below 0": ramgape.Semivariance(target=0),
    "Entropic, gamma 0.05": ramgape.Entropic(gamma=0.05),
    "CVaR: the worst 5 %": ramgape.CVaR(level=0.05),
}
found = {title: ramgape.analyze(returns, risk=risk, epsilon=1).result for title, risk in risks.items()}
for title, result in found.items():
    print(f"{title:22} {' '.join(result.front)}")

# %% [markdown]
# These are best guesses. What the data prove of the first, in full:

# %%
print(found["Standard deviation"].sentence)
for alarm in found["Standard deviation"].alarms:
    print(f"{alarm.arm:5} its {alarm.kind} changed, evidence {alarm.evidence:,.0f} to 1, by month {alarm.pull}")

# %%
with style.applied():
    figure = style.new_figure(10, 6.2)
    panels = figure.subplots(2, 3).flatten()
    for axes, (title, result) in zip(panels, found.items(), strict=False):
        for arm in result.arms:
            chosen = arm.name in result.front
            axes.plot(arm.mean, arm.risk, **style.MARKS["in" if chosen else "out"].points(4.5))
            if chosen:
                axes.annotate(arm.name, (arm.mean, arm.risk), (5, -8), textcoords="offset points", fontsize=7.5)
        axes.set_title(title, loc="left")
    panels[-1].axis("off")
    panels[-1].text(
        0, 0.5, "Each point a stock.\n\nFilled, with its name: on the front of the\nestimates. Nothing of it is proved."
    )
    figure.supxlabel("Mean monthly return in %  (higher is better →)")
    figure.supylabel("Risk  (← lower is better)")
style.save(figure, "stocks.svg")

# %% [markdown]
# ![Five panels, one for each risk, each with twenty stocks by mean and risk; the stocks of the estimated front differ
# from panel to panel](images/stocks.svg)
#
# **What it shows.** The five fronts share their ends, the stock with the highest mean and the steadiest, and differ
# in between. Four hundred months of twenty stocks prove none of them: all twenty stay undecided, because a month's
# return varies by some ten per cent, and the means differ by one or two.
#
# **What it does not prove.** There is no certificate here, and there could be none. Months are no independent draws:
# calm and wild years come in clusters, which is what the alarms have found in eight of the twenty. The twenty are
# companies that were large at the end of the record, chosen with hindsight (survivorship): a mean of two per cent a
# month says that they survived and grew, not that they will. Stocks move together, so that it would be better to
# compare them within a month ([portfolios](portfolios.md)). And the past of a stock is no promise.

# %%
assert len({result.front for result in found.values()}) >= 3
assert all("JNJ" in result.front and "BBY" in result.front for result in found.values())
assert all(arm.verdict == "undecided" for result in found.values() for arm in result.arms)
assert all(result.alarms for result in found.values())

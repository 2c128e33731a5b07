"""Which strategies are worth their risk? That depends on what counts as risk: the same arms, five risks, five fronts.

Eight strategies by their monthly returns, in percent. A standard deviation counts a windfall as it counts a loss, so it
likes the carry trade, which wins a little almost always and crashes once in six years, and not the trend follower,
which mostly treads water and sometimes wins a lot. Risks that look at losses alone see it the other way round.
"""

import sys
from dataclasses import replace

from matplotlib.axes import Axes

import ramgape
from ramgape.views.plots import crosses, style, window

CRASHES = (1.5,) * 68 + (-1.7,) * 3 + (-12.1,)
STRATEGIES = {
    "Treasury bills": ramgape.Uniform(0.12, 0.27),
    "Bond ladder": ramgape.Beta(7.8, 6.6, -4.3, 4.6),
    "Index fund": ramgape.Beta(7.3, 10.9, -9.9, 19.4),
    "Value tilt": ramgape.Beta(4.2, 5.6, -6.6, 10.2),
    "Option seller": ramgape.Data((1.5,) * 26 + (-15.4,)),
    "Carry trade": ramgape.Data(CRASHES),
    "Trend follower": ramgape.Beta(2.2, 7.4, -4.0, 16.0),
    "Venture fund": ramgape.Beta(0.9, 4.3, -3.7, 30.0),
}
RISKS = {
    "Standard deviation": ramgape.StandardDeviation(),
    "Mean-variance (ρ = 5)": ramgape.MeanVariance(rho=5),
    "Semivariance below 0": ramgape.Semivariance(target=0),
    "Entropic (γ = 0.1)": ramgape.Entropic(gamma=0.1),
    "CVaR: minus the mean of the worst 5%": ramgape.CVaR(level=0.05),
}


def search(risk: object, pulls: int) -> ramgape.Result:
    """The Pareto set in mean and this risk; a percent of the mean is worth a unit of the risk."""
    arms = tuple(ramgape.Arm(name, returns) for name, returns in STRATEGIES.items())
    market = ramgape.Instance("strategies", arms, reward_range=(-30, 30), noise="bounded")
    return ramgape.simulate(market, seed=1, risk=risk, epsilon=(1.0, 1.0), budget=pulls)


def draw(axes: Axes, title: str, result: ramgape.Result) -> None:
    """One panel: means against risks, with the stairs of the front."""
    points = [(arm.mean, arm.risk) for arm in result.arms]
    limits = window.window([x for x, _ in points], []), window.window([y for _, y in points], [])
    # Without their intervals: here only the places matter.
    bare = [replace(arm, mean_interval=(arm.mean,) * 2, risk_interval=(arm.risk,) * 2) for arm in result.arms]
    axes.set_title(title, loc="left")
    crosses.draw_crosses(axes, bare, front=result.front, limits=limits, panel=True)


def main(pulls: int) -> None:
    """Search five times, and show the five answers side by side."""
    results = {title: search(risk, pulls) for title, risk in RISKS.items()}
    width = max(map(len, STRATEGIES))
    print(" " * width, *(f"{risk.name:>14}" for risk in RISKS.values()))
    for name in STRATEGIES:
        print(f"{name:{width}}", *(f"{'in' if name in result.front else '-':>14}" for result in results.values()))

    with style.applied():
        figure = style.new_figure(11.0, 6.6)
        panels = figure.subplots(2, 3).flatten()
        for axes, (title, result) in zip(panels, results.items(), strict=False):
            draw(axes, title, result)
        handles = [*panels[0].get_lines()[:2], crosses.front_handle()]
        panels[-1].axis("off")
        panels[-1].legend(
            handles, ["in the Pareto set", "out", "front"], loc="center left", title="Each point a strategy"
        )
        figure.supxlabel("Mean monthly return in %  (higher is better →)")
        figure.supylabel("Risk  (← lower is better)")
    style.save(figure, "risks.png")
    print("written: risks.png")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 30_000)

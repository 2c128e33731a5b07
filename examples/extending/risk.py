"""A risk of your own: the expected deficit below a target, E (target - X)+, for any bound made of means."""

from dataclasses import dataclass

import ramgape
from ramgape.extend import check_risk


@dataclass(frozen=True)
class Deficit(ramgape.Measure):
    name = "deficit"
    target: float = 0.5

    @staticmethod
    def transform(problem, value):  # what is remembered of a reward in [0, 1]: a number in [0, 1]
        return max(problem.risk_parameters[0] - value, 0.0)

    @staticmethod
    def untransform(problem, part):  # from the mean of these to the risk
        return problem.alpha * part

    def formula(self, costs):
        return f"mean of (X - {self.target:g})+" if costs else f"mean of ({self.target:g} - X)+"

    def mirrored(self):  # for costs, which are negated
        return Deficit(-self.target)

    def on_unit(self, origin, span):
        return Deficit((self.target - origin) / span)

    def offset(self, origin):
        return 0.0

    def unit_range(self):
        return max(self.target - 1.0, 0.0), max(self.target, 0.0)


if __name__ == "__main__":
    check_risk(Deficit(0.5))
    print("Pareto set", *ramgape.simulate("paper:46", risk=Deficit(0.5), epsilon=0.05, seed=1).front)

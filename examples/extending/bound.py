"""A bound of your own: Hoeffding's inequality with a share of the error for every number of pulls."""

import math
from types import SimpleNamespace

import ramgape
from ramgape.bounds import BOUNDED, Bound
from ramgape.extend import check_bound
from ramgape.risks.table import MEANS


def interval(problem, count, average, variance, level, low, high):
    """Ends for the mean of values in [0, 1]; at pull n it spends 1 / (n (n + 1)) of its chance to fail."""
    radius = math.sqrt((level + math.log(count * (count + 1.0))) / (2.0 * count))
    return max(average - radius, low), min(average + radius, high)


UNION = Bound("union", SimpleNamespace(interval=interval), BOUNDED, (MEANS,), "a union over all numbers of pulls")

if __name__ == "__main__":
    check_bound(UNION, risks=("mean-variance:0.5", "cvar:0.2"))  # seeded runs, beside the truth
    ramgape.register("bound", "union", UNION)
    for bound in ("union", "hoeffding", "empirical-bernstein"):
        result = ramgape.simulate("paper:10", bound=bound, risk="cvar:0.2", epsilon=0.2, seed=1, max_trials=10**6)
        print(f"{bound}: {result.samples:,} pulls")

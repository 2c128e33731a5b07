"""A policy of your own: pull the arm whose box is the largest, as a plain function of what the search knows."""

import ramgape
from ramgape.extend import check_policy


def largest_box(state) -> int:
    """The arm of which least is known: arrays of one number per arm, in your units, and `argmax` is an arm's number."""
    area = (state.mean_high - state.mean_low) * (state.risk_high - state.risk_low)
    return int(area.argmax())


if __name__ == "__main__":
    check_policy(largest_box)  # names arms that exist, is pure, comes to an end
    ramgape.register("policy", "largest-box", largest_box)  # from now on a name, for studies and commands as well
    for policy in ("largest-box", "ramgape"):
        result = ramgape.simulate("paper:46", policy=policy, epsilon=0.05, seed=1)
        print(f"{policy}: Pareto set {', '.join(result.front)} after {result.samples:,} pulls")

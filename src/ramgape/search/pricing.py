"""What is asked for in money, checked: what pulls cost, and what all may cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ramgape.common.checks import SMALLEST, as_float, check_number
from ramgape.common.formatting import plural
from ramgape.core.prices import ROUNDING
from ramgape.errors import known_name, require, shorten
from ramgape.search.outcome import TOLD_PRICES


def kind_of_goal(asked: dict[str, Any]) -> str:
    """A budget, in pulls or in money; but money beside a tolerance or a confidence is a cap, as max_trials is one."""
    alone = asked["spend"] is not None and asked["epsilon"] is None and asked["delta"] is None
    return "confidence" if asked["budget"] is None and not alone else "budget"


def check_prices(asked: dict[str, Any]) -> dict[str, Any]:
    """What a pull of each arm costs, and what all may cost."""
    price, spend, names = asked["price"], asked["spend"], asked["names"]
    if spend is not None:
        spend = check_number(spend, "spend", "a finite number above 0", lambda value: value > 0.0)
    if price is None and spend is not None:
        price = TOLD_PRICES
    if price is None or price == TOLD_PRICES:
        return {"price": price, "spend": spend}
    if isinstance(price, Mapping):
        for name in price:
            known_name(str(name), names, "each arm in price")
        given = {str(name): value for name, value in price.items()}
        missing = [name for name in names if name not in given]
        require(not missing, "price", f"given for every arm, also for {shorten(missing[:1])[1:-1]}", price)
    else:
        require(not math.isnan(as_float(price)), "price", "a number, one for each arm (a mapping), or 'told'", price)
        given = dict.fromkeys(names, price)
    prices = []
    for name in names:
        what, allowed = f"the price of {shorten(name)}", "a finite number above 0"
        prices.append(check_number(given[name], what, allowed, lambda value: value >= SMALLEST))
    least = asked["initial_trials"] * math.fsum(prices)
    if spend is not None:
        allowed = f"at least {least:g}, what the first {plural(asked['initial_trials'], 'pull')} of each arm cost"
        require(spend >= least * (1.0 - ROUNDING), "spend", allowed, spend)
    return {"price": tuple(prices), "spend": spend}

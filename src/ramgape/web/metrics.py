"""What a server counts, as Prometheus reads it.

A row of `FAMILIES` declares a metric; code that knows its value adds to it, `metrics.count("ramgape_logins_total")`.
"""

from __future__ import annotations

import platform
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from ramgape import __version__

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Metric(NamedTuple):
    """Numbers of one name: counter, gauge or histogram, its meaning, its labels, the upper ends of its bins."""

    kind: str
    text: str
    labels: tuple[str, ...] = ()
    bins: tuple[float, ...] = ()


FAMILIES: dict[str, Metric] = {
    "ramgape_build_info": Metric("gauge", "Always 1; which ramgape and which Python.", ("version", "python")),
    "ramgape_requests_total": Metric("counter", "Requests that were answered.", ("route", "method", "status")),
    "ramgape_request_seconds": Metric("histogram", "From the headers to the end of the answer.", ("route",), SECONDS),
    "ramgape_requests_under_way": Metric("gauge", "Requests that are not answered yet, streams included."),
    "ramgape_refused_total": Metric("counter", "Requests refused before they reached a route, and why.", ("error",)),
    "ramgape_logins_total": Metric("counter", "Logins of browsers.", ("outcome",)),
    "ramgape_transactions_total": Metric("counter", "Transactions on studies."),
    "ramgape_transaction_operations": Metric("histogram", "Operations that shared one transaction.", (), COUNTS),
    "ramgape_transaction_seconds": Metric("histogram", "From the beginning to the end of a transaction.", (), SECONDS),
    "ramgape_queue_wait_seconds": Metric("histogram", "Operations waited so long for their transaction.", (), SECONDS),
    "ramgape_lock_wait_seconds": Metric("histogram", "Transactions waited so long for the store.", (), SECONDS),
    "ramgape_expired_leases_total": Metric("counter", "Pulls handed out again since their leases had run out."),
    "ramgape_refused_tells_total": Metric("counter", "What was told in vain: why, or `late`.", ("error",)),
    "ramgape_open_studies": Metric("gauge", "Studies that the server has open."),
    "ramgape_watchers": Metric("gauge", "Event streams that are open."),
}


class Metrics:
    """The numbers of one server; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By name and labels: the value; of a histogram the count of each bin, and the sum.
        self._values: dict[str, dict[tuple[str, ...], list[float]]] = {name: {} for name in FAMILIES}
        self._gauges: dict[str, Callable[[], float]] = {}
        for name, family in FAMILIES.items():
            if not family.labels and not family.bins:
                self.count(name, 0.0)
        self.count("ramgape_build_info", version=__version__, python=platform.python_version())

    def count(self, name: str, amount: float = 1.0, **labels: object) -> None:
        """Add to a counter."""
        self._add(name, 0, amount, labels)

    def observe(self, name: str, value: float, **labels: object) -> None:
        """Add a value to a histogram."""
        self._add(name, bisect_left(FAMILIES[name].bins, value), 1.0, labels, value)

    def _add(self, name: str, place: int, amount: float, labels: Mapping[str, object], total: float = 0.0) -> None:
        family = FAMILIES[name]
        key = tuple([str(labels[each]) for each in family.labels])  # a KeyError for one that is missing
        with self._lock:
            found = self._values[name].setdefault(key, [0.0] * (len(family.bins) + 2))
            found[place] += amount
            found[-1] += total

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """Name the function that reads a gauge."""
        assert FAMILIES[name].kind == "gauge"
        self._gauges[name] = read

    def text(self) -> str:
        """All of them, in the text format of Prometheus."""
        read: dict[str, dict[tuple[str, ...], list[float]]]
        read = {name: {(): [ask()]} for name, ask in self._gauges.items()}
        with self._lock:
            lines = [
                line
                for name, family in FAMILIES.items()
                for line in _lines(name, family, read.get(name) or self._values[name])
            ]
        return "\n".join(lines) + "\n"


def _lines(name: str, family: Metric, values: Mapping[tuple[str, ...], Sequence[float]]) -> Iterable[str]:
    yield f"# HELP {name} {family.text}"
    yield f"# TYPE {name} {family.kind}"
    for key, found in values.items():
        labels = _braces(family.labels, key)
        if not family.bins:
            yield f"{name}{labels} {_number(found[0])}"
            continue
        for end, seen in zip([f"{each:g}" for each in family.bins] + ["+Inf"], accumulate(found[:-1]), strict=True):
            yield f"{name}_bucket{_braces((*family.labels, 'le'), (*key, end))} {seen:.0f}"
        yield f"{name}_sum{labels} {_number(found[-1])}"
        yield f"{name}_count{labels} {seen:.0f}"


def _braces(labels: tuple[str, ...], key: tuple[str, ...]) -> str:
    """Labels and their values, which may be anybody's text.

    >>> _braces(("route",), ('a"b' + chr(92) + chr(10),))
    '{route="a\\\\"b\\\\\\\\\\\\n"}'
    """
    if not labels:
        return ""
    escaped = [value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"") for value in key]
    return "{" + ",".join(f'{label}="{value}"' for label, value in zip(labels, escaped, strict=True)) + "}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)

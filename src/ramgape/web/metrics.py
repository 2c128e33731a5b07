"""What a server counts, as Prometheus reads it.

A row of `FAMILIES` declares a metric; code that knows its value adds to it, `metrics.count("ramgape_logins_total")`.
"""

from __future__ import annotations

import platform
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
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


class Histogram:
    """How many values fell into each bin, and their sum."""

    def __init__(self, bins: tuple[float, ...]) -> None:
        self.counts, self.total = [0] * (len(bins) + 1), 0.0


class Metrics:
    """The numbers of one server; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, dict[tuple[str, ...], float]] = {}
        self._histograms: dict[str, dict[tuple[str, ...], Histogram]] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        for name, family in FAMILIES.items():
            if family.kind == "histogram":
                self._histograms[name] = {}
            else:
                self._values[name] = {} if family.labels else {(): 0.0}
        self._values["ramgape_build_info"][__version__, platform.python_version()] = 1.0

    def count(self, name: str, amount: float = 1.0, **labels: object) -> None:
        """Add to a counter, or to a gauge that goes up and down."""
        key = _key(FAMILIES[name], labels)
        with self._lock:
            values = self._values[name]
            values[key] = values.get(key, 0.0) + amount

    def observe(self, name: str, value: float, **labels: object) -> None:
        """Add a value to a histogram."""
        family = FAMILIES[name]
        key, place = _key(family, labels), bisect_left(family.bins, value)
        with self._lock:
            histogram = self._histograms[name].get(key)
            if histogram is None:
                histogram = self._histograms[name][key] = Histogram(family.bins)
            histogram.counts[place] += 1
            histogram.total += value

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """Name the function that reads a gauge."""
        assert FAMILIES[name].kind == "gauge"
        assert not FAMILIES[name].labels
        self._gauges[name] = read

    def text(self) -> str:
        """All of them, in the text format of Prometheus."""
        asked = {name: read() for name, read in self._gauges.items()}
        with self._lock:
            lines = [line for name, family in FAMILIES.items() for line in self._lines(name, family, asked)]
        return "\n".join(lines) + "\n"

    def _lines(self, name: str, family: Metric, asked: Mapping[str, float]) -> Iterable[str]:
        yield f"# HELP {name} {family.text}"
        yield f"# TYPE {name} {family.kind}"
        if family.kind == "histogram":
            for key, histogram in self._histograms[name].items():
                yield from _bins(name, family, key, histogram)
        elif name in asked:
            yield f"{name} {asked[name]:g}"
        else:
            for key, value in self._values[name].items():
                yield f"{name}{_braces(family.labels, key)} {_number(value)}"


def _key(family: Metric, labels: Mapping[str, object]) -> tuple[str, ...]:
    """The values of all labels, in their order; a KeyError for one that is missing."""
    return tuple([str(labels[each]) for each in family.labels])


def _bins(name: str, family: Metric, key: tuple[str, ...], histogram: Histogram) -> Iterable[str]:
    seen = 0
    for end, count in zip([f"{each:g}" for each in family.bins] + ["+Inf"], histogram.counts, strict=True):
        seen += count
        yield f"{name}_bucket{_braces((*family.labels, 'le'), (*key, end))} {seen}"
    yield f"{name}_sum{_braces(family.labels, key)} {_number(histogram.total)}"
    yield f"{name}_count{_braces(family.labels, key)} {seen}"


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

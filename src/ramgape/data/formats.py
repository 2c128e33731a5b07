"""Logs that tools write: evaluations of models, and benchmarks. A format turns a file into records.

A record is one trial: labels say what was tried on what (model, sample, epoch), outcomes what came of it. `FORMATS` is
the only list. A JSON document is recognized by its keys, JSON lines by the keys of the first line, a table of runs by
the names of its columns; the name of a file counts for nothing, except where a tool writes the name of what it measured
nowhere else.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ramgape import registry
from ramgape.data.columns import is_number
from ramgape.data.source import Source, read_member
from ramgape.errors import InvalidData, shorten

UNIT = (0.0, 1.0)
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # inspect: correct, partly correct, incorrect, no answer
PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
OWN_KEYS = frozenset(  # of a line of lm-evaluation-harness that are no metrics
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "task_name")
)
SEED_LABELS = re.compile(r"(^|[._/])(random_)?(seed|state|fold|run|repeat|replicate)s?$", re.IGNORECASE)


class Record(NamedTuple):
    """One trial: where it stands in its file, what was tried on what, and what came of it."""

    place: str
    labels: dict[str, Any]
    outcomes: dict[str, Any]


Recognize = Callable[[Mapping[str, Any]], bool]
Read = Callable[[Any, Source], Iterator[Record]]


class Format(NamedTuple):
    """A kind of log.

    Attributes:
        name: What it is called.
        recognize: Whether a document or a line with these keys is one.
        read: Its records, from the parsed content and the source.
        arm, item: The labels that are usually arms and items; without items, trials of an arm are repetitions.
        arms, items: What these are called, in the plural.
        direction: Whether more of its outcomes is better.
        unit: Whether an outcome lies between 0 and 1 by the documentation of the tool.
        lines: Whether it is JSON lines: `recognize` then gets the first object, and `read` all of them, numbered.
    """

    name: str
    recognize: Recognize
    read: Read
    arm: str
    arms: str
    item: str | None = None
    items: str = "item"
    direction: str = "maximize"
    unit: Callable[[str], bool] = lambda _: False
    lines: bool = False


def wrong(source: Source, words: str, given: object = "") -> InvalidData:
    """A log that is not what its tool writes."""
    shown = shorten(given) if given != "" else "something else"
    return InvalidData(what=source.name, verb="have", allowed=words, given=shown)


def entries(found: Any, key: str, source: Source, kind: type = list) -> Any:
    """What an object has under a key, of the kind that the tool writes."""
    value = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(value, kind):
        raise wrong(source, f"{'a list' if kind is list else 'an object'} {key!r}", value)
    return value


def objects(found: Any, key: str, source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a list under a key, counted from 1."""
    for number, each in enumerate(entries(found, key, source), start=1):
        if not isinstance(each, dict):
            raise wrong(source, f"objects in the list {key!r}", each)
        yield number, each


def flat(prefix: str, found: Any) -> dict[str, Any]:
    """The plain values of an object, by names such as prefix.key; what has parts of its own is left out."""
    if not isinstance(found, Mapping):
        return {}
    plain = {f"{prefix}{key}": value for key, value in found.items() if isinstance(value, str | int | float | bool)}
    return {name: value for name, value in plain.items() if len(str(value)) <= 200}


# ------------------------------------------------------------------------------------- evaluations


def read_inspect(found: Any, source: Source) -> Iterator[Record]:
    """A log of inspect_ai (JSON, version 2): one record a sample and epoch."""
    eval_ = entries(found, "eval", source, dict)
    labels = {"model": eval_.get("model"), "task": eval_.get("task"), **flat("task_args.", eval_.get("task_args"))}
    config = eval_.get("config") if isinstance(eval_.get("config"), dict) else {}
    if config.get("sample_shuffle") is not None:
        labels["shuffled"] = config["sample_shuffle"]
    for number, sample in objects(found, "samples", source):
        item, epoch = sample.get("id", number), sample.get("epoch", 1)
        outcomes: dict[str, Any] = {}
        scores = sample.get("scores") or {}
        for scorer, score in scores.items() if isinstance(scores, dict) else ():
            value = score.get("value") if isinstance(score, dict) else score
            parts = value if isinstance(value, dict) else {"": value}
            outcomes.update({f"{scorer}/{key}" if key else scorer: _letter(part) for key, part in parts.items()})
        usage = sample.get("model_usage") or {}
        tokens = [each.get("total_tokens", 0) for each in usage.values() if isinstance(each, dict)]
        outcomes["tokens"] = sum(tokens) if tokens else None
        outcomes["time"] = sample.get("total_time")
        mine = {**labels, "item": item, "epoch": epoch, **flat("metadata.", sample.get("metadata"))}
        yield Record(f"{source.name}, sample {item}, epoch {epoch}", mine, outcomes)


def _letter(value: Any) -> Any:
    return LETTERS.get(value, value) if isinstance(value, str) else value


def read_inspect_zip(archive: zipfile.ZipFile, source: Source) -> Iterator[Record]:
    """A log of inspect_ai (.eval): its header, and the summary of each sample."""
    members = {each.filename: each for each in archive.infolist()}
    header = members.get("header.json") or members.get("_journal/start.json")
    assert header is not None
    content = parse(read_member(archive, header, source.name), f"{source.name}, {header.filename}")
    if not isinstance(content, dict):
        raise wrong(source, "an object in header.json", content)
    if "summaries.json" in members:  # of a finished log
        names = ["summaries.json"]
    else:
        names = sorted(
            (each for each in members if each.startswith("_journal/summaries/")), key=lambda each: (len(each), each)
        )
    samples: list[Any] = []
    for name in names:
        part = parse(read_member(archive, members[name], source.name), f"{source.name}, {name}")
        samples += part if isinstance(part, list) else [part]
    yield from read_inspect({**content, "samples": samples}, source)


def read_lm_eval(lines: Iterator[tuple[int, dict[str, Any]]], source: Source) -> Iterator[Record]:
    """samples_*.jsonl of lm-evaluation-harness 0.4: one record a document, with the metrics of all filters."""
    model, task = _lm_eval_model(source), ""
    found = re.match(r"samples_(.+?)_\d{4}-\d\d-\d\dT", source.name)
    task = found[1] if found else ""
    merged: dict[Any, Record] = {}
    for number, line in lines:
        item, used = line.get("doc_id"), line.get("filter", "none")
        names = line.get("metrics")
        if not isinstance(names, list):
            names = [name for name in line if name not in OWN_KEYS and not name.endswith("_hash")]
        values = {name: line.get(name) for name in names if isinstance(name, str)}
        values = {name: value for name, value in values.items() if isinstance(value, int | float | bool)}
        marked = {name if used == "none" else f"{name},{used}": value for name, value in values.items()}
        place = f"{source.name}, line {number}"
        if item in merged:
            merged[item].outcomes.update(marked)
        else:
            merged[item] = Record(place, {"model": model, "task": task, "item": item}, marked)
    yield from merged.values()


def _lm_eval_model(source: Source) -> str:
    """The name of the model, which stands in the results beside the samples, else in the name of the folder."""
    if source.path is None:
        return source.name
    time = re.search(r"_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl", source.name)
    results = source.path.parent / f"results_{time[1]}.json" if time else None
    if results is not None and results.is_file() and results.stat().st_size < 2**26:
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            return str(json.loads(results.read_bytes())["model_name"])
    folder = source.path.resolve().parent.name
    return folder if results is not None and folder else source.path.name.split(".")[0]


def read_promptfoo(found: Any, source: Source) -> Iterator[Record]:
    """Results of promptfoo (version 3 of its JSON): one record a test, prompt and provider."""
    for number, each in objects(found["results"], "results", source):
        provider, prompt = each.get("provider"), each.get("prompt")
        name = (provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider
        label = (prompt.get("label") or prompt.get("raw")) if isinstance(prompt, dict) else prompt
        labels = {
            "provider": name,
            "prompt": label,
            "item": each.get("testIdx", number),
            **flat("vars.", each.get("vars")),
        }
        outcomes = {"score": each.get("score"), "pass": each.get("success")}
        outcomes |= flat("", each.get("namedScores")) | {"cost": each.get("cost"), "latency": each.get("latencyMs")}
        if not isinstance(each.get("gradingResult"), dict) and each.get("error"):
            outcomes |= {"score": None, "pass": None}  # the provider failed, which says nothing of the answer
        yield Record(f"{source.name}, result {number}", labels, outcomes)


def read_deepeval(found: Any, source: Source) -> Iterator[Record]:
    """A test run of deepeval: one record a test case, an outcome a metric."""
    found = found.get("testRunData", found)
    arm = Path(source.name).name.lstrip(".").split(".")[0]
    settings = flat("", found.get("hyperparameters"))
    for key in ("conversationalTestCases", "testCases"):
        for number, case in objects(found, key, source) if found.get(key) else ():
            outcomes = {str(each.get("name")): each.get("score") for _, each in objects(case, "metricsData", source)}
            outcomes |= {
                "pass": case.get("success"),
                "cost": case.get("evaluationCost"),
                "time": case.get("runDuration"),
            }
            labels = {"run": arm, **settings, "item": case.get("input") or case.get("name") or number}
            yield Record(f"{source.name}, test case {number}", labels, outcomes)


# -------------------------------------------------------------------------------------- benchmarks


def read_hyperfine(found: Any, source: Source) -> Iterator[Record]:
    """The export of hyperfine: one record a run."""
    for _, each in objects(found, "results", source):
        name, times = str(each.get("command")), each.get("times")
        if not isinstance(times, list):
            raise wrong(source, f"the times of single runs of {name!r}", times)
        labels = {"benchmark": name, **flat("parameters.", each.get("parameters"))}
        for number, time in enumerate(times, start=1):
            yield Record(f"{source.name}, run {number} of {shorten(name)}", labels, {"time": time})


def read_pytest_benchmark(found: Any, source: Source) -> Iterator[Record]:
    """A file of pytest-benchmark (version 3 to 5): one record a round."""
    for _, each in objects(found, "benchmarks", source):
        name, stats = str(each.get("fullname", each.get("name"))), each.get("stats")
        times = stats.get("data") if isinstance(stats, dict) else None
        if not isinstance(times, list):
            words = f"single rounds of {name!r} (pytest --benchmark-json FILE, or --benchmark-save-data)"
            raise wrong(source, words, "statistics alone")
        labels = {
            "benchmark": name,
            "name": each.get("name"),
            "group": each.get("group"),
            **flat("params.", each.get("params")),
        }
        for number, time in enumerate(times, start=1):
            yield Record(f"{source.name}, round {number} of {shorten(name)}", labels, {"time": time})


def read_google_benchmark(found: Any, source: Source) -> Iterator[Record]:
    """The JSON of Google Benchmark: one record a repetition, in seconds."""
    for number, each in objects(found, "benchmarks", source):
        if each.get("run_type", "iteration") != "iteration" or each.get("error_occurred"):
            continue
        name, factor = str(each.get("run_name", each.get("name"))), PER_SECOND.get(each.get("time_unit", "ns"))
        if factor is None:
            raise wrong(source, f"times in {', '.join(PER_SECOND)}", each.get("time_unit"))
        times = {"time": each.get("real_time"), "cpu_time": each.get("cpu_time")}
        outcomes = {key: value / factor if isinstance(value, int | float) else value for key, value in times.items()}
        yield Record(f"{source.name}, benchmark {number}", {"benchmark": name}, outcomes)


def read_criterion(found: Any, source: Source) -> Iterator[Record]:
    """sample.json of criterion.rs: one record a sample, in seconds an iteration."""
    name, iterations, times = source.name, entries(found, "iters", source), entries(found, "times", source)
    if source.path is not None:
        folder = source.path.resolve().parent  # target/criterion/GROUP/FUNCTION/new
        name = folder.parent.name if folder.name in ("new", "base") else folder.name
        described = folder / "benchmark.json"
        if described.is_file() and described.stat().st_size < 2**20:
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                name = str(json.loads(described.read_bytes())["full_id"])
        labels = {"benchmark": name, "folder": folder.name}
    else:
        labels = {"benchmark": name}
    for number, (count, time) in enumerate(zip(iterations, times, strict=False), start=1):
        if not (isinstance(count, int | float) and isinstance(time, int | float) and count > 0):
            raise wrong(source, "numbers in 'iters' and 'times'", (count, time))
        yield Record(f"{source.name}, sample {number}", labels, {"time": time / count / 1e9})


def read_cargo_criterion(lines: Iterator[tuple[int, dict[str, Any]]], source: Source) -> Iterator[Record]:
    """The messages of cargo-criterion: one record a sample, in seconds an iteration."""
    for number, line in lines:
        if line.get("reason") != "benchmark-complete":
            continue
        factor = PER_SECOND.get(line.get("unit", "ns"))
        if factor is None:
            raise wrong(source, f"times in {', '.join(PER_SECOND)}", line.get("unit"))
        counts, values = entries(line, "iteration_count", source), entries(line, "measured_values", source)
        for count, value in zip(counts, values, strict=False):
            yield Record(
                f"{source.name}, line {number}", {"benchmark": line.get("id")}, {"time": value / count / factor}
            )


def read_asv(found: Any, source: Source) -> Iterator[Record]:
    """Results of asv (version 2): one record a sample of each benchmark and its parameters."""
    columns, benchmarks = entries(found, "result_columns", source), entries(found, "results", source, dict)
    commit, plain = str(found.get("commit_hash", ""))[:8], True
    for name, values in benchmarks.items():
        row = dict(zip(columns, values, strict=False)) if isinstance(values, list) else {}
        samples, parameters = row.get("samples"), row.get("params") or []
        if not isinstance(samples, list):
            continue
        plain = False
        for place, times in enumerate(samples):
            chosen: list[str] = []
            rest = place
            for options in reversed(parameters):
                chosen.insert(0, str(options[rest % len(options)]))
                rest //= len(options)
            label = f"{name}({', '.join(chosen)})" if chosen else str(name)
            for number, time in enumerate(times or (), start=1):
                labels = {"benchmark": label, "commit": commit, "environment": found.get("env_name")}
                yield Record(f"{source.name}, sample {number} of {shorten(label)}", labels, {"time": time})
    if plain:
        raise wrong(source, "single samples: run asv with --record-samples", "results alone")


# ------------------------------------------------------------------------------------ tables of runs


OF_WANDB = re.compile(  # columns of an export that are neither settings nor measurements
    "ID|Name|State|Notes|User|Username|Tags|Created|Updated|Runtime|Sweep|Hostname|GPU Type|GPU Count|Job Type|Group|"
    "Description|Commit|GitHub|Host|Path|Project|Python Version|Agent|Start Time|End Time|_.*"
)


def runs_of(labels: Sequence[Any]) -> Format | None:
    """What a table of runs is from, by the names of its columns: `mlflow.search_runs`, or an export of W&B."""
    header = {label for label in labels if isinstance(label, str)}
    if "run_id" in header and any(name.startswith("metrics.") for name in header):
        return RUNS[MLFLOW]
    if {"Name", "State"} <= header and {"Runtime", "Created", "Sweep", "User"} & header:
        return RUNS[WANDB]
    return None


def runs(kind: Format, rows: Sequence[Mapping[str, Any]], source_name: str) -> list[Record]:
    """The runs of a table as records: runs with one configuration, except for its seed, are trials of one arm."""
    header = list(rows[0]) if rows else []
    filled = {column: [row[column] for row in rows if row[column] not in ("", None)] for column in header}
    if kind.name == MLFLOW:
        settings = [column for column in header if column.startswith("params.")]
        measured = [column for column in header if column.startswith("metrics.")]
    else:
        own = [column for column in header if not OF_WANDB.fullmatch(column)]
        # A setting has values that come again in other runs; a measurement is a number that does not.
        again = {column: 2 * len(set(map(str, filled[column]))) <= len(filled[column]) for column in own}
        numeric = {
            column: bool(filled[column]) and all(is_number(str(value)) for value in filled[column]) for column in own
        }
        measured = [column for column in own if numeric[column] and not again[column]]
        settings = [column for column in own if column not in measured and (again[column] or not numeric[column])]
    differing = [
        column for column in settings if not SEED_LABELS.search(column) and len({str(row[column]) for row in rows}) > 1
    ]
    records = []
    for number, row in enumerate(rows, start=1):
        chosen = ", ".join(f"{column.removeprefix('params.')}={row[column]}" for column in differing)
        labels = {
            **{column: row[column] for column in header if column not in measured},
            "configuration": chosen or "all runs",
        }
        outcomes = {column.removeprefix("metrics."): row[column] for column in measured}
        records.append(Record(f"{source_name}, run {number}", labels, outcomes))
    return records


# ---------------------------------------------------------------------------------------- the list


def parse(content: bytes, name: str) -> Any:
    """The value of a JSON document."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidData(what=name, allowed=f"whole JSON ({reason})") from None


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda found: all(key in found for key in keys)


def _of_promptfoo(found: Mapping[str, Any]) -> bool:
    inner = found.get("results")
    return isinstance(inner, dict) and "results" in inner


def _of_hyperfine(found: Mapping[str, Any]) -> bool:
    inner = found.get("results")
    return isinstance(inner, list) and bool(inner) and isinstance(inner[0], dict) and "command" in inner[0]


INSPECT, LM_EVAL, PROMPTFOO, DEEPEVAL = (
    "inspect log",
    "lm-evaluation-harness samples",
    "promptfoo results",
    "deepeval run",
)
MLFLOW, WANDB = "MLflow runs", "W&B runs"
TOKENS_AND_TIMES = frozenset(("tokens", "time", "cost", "latency", "cpu_time"))  # less is better


def _is_score(name: str) -> bool:
    return name not in TOKENS_AND_TIMES


def _benchmark(name: str, recognize: Recognize, read: Read, noun: str = "benchmark") -> Format:
    return Format(name, recognize, read, "benchmark", noun, direction="minimize")


def _of_deepeval(found: Mapping[str, Any]) -> bool:
    inner = found.get("testRunData", found)
    return isinstance(inner, dict) and "testCases" in inner


def _unit_in_lm_eval(name: str) -> bool:
    return name.partition(",")[0] in OF_METRICS


OF_METRICS = frozenset(("acc", "acc_norm", "exact_match", "em", "f1", "brier_score"))  # between 0 and 1
FORMATS = [
    Format(INSPECT, _has("eval", "samples"), read_inspect, "model", "model", "item", "sample"),
    Format(PROMPTFOO, _of_promptfoo, read_promptfoo, "provider", "provider", "item", "test", unit=_is_score),
    Format(DEEPEVAL, _of_deepeval, read_deepeval, "run", "run", "item", "test case", unit=_is_score),
    _benchmark("hyperfine results", _of_hyperfine, read_hyperfine, "command"),
    _benchmark("pytest-benchmark results", _has("benchmarks", "machine_info"), read_pytest_benchmark),
    _benchmark("Google Benchmark results", _has("benchmarks", "context"), read_google_benchmark),
    _benchmark("criterion sample", _has("iters", "times", "sampling_mode"), read_criterion),
    _benchmark("asv results", _has("commit_hash", "results", "result_columns"), read_asv),
    Format(LM_EVAL, _has("doc_id", "resps"), read_lm_eval, "model", "model", "item", "document")._replace(
        unit=_unit_in_lm_eval, lines=True
    ),
    _benchmark("cargo-criterion messages", _has("reason"), read_cargo_criterion)._replace(lines=True),
]


def format_of(found: Any, *, lines: bool) -> Format | None:
    """The format of a document, or of the first of several lines: ours first, then those from outside."""
    outside = (registry.find("reader", name, ()) for name in registry.names("reader"))
    fitting = (each for each in chain(FORMATS, outside) if each.lines == lines and each.recognize(found))
    return next(fitting, None) if isinstance(found, Mapping) else None


ARCHIVE = FORMATS[0]._replace(read=read_inspect_zip)
RUNS = {
    name: Format(name, lambda _: False, lambda *_: iter(()), "configuration", "configuration")
    for name in (MLFLOW, WANDB)
}

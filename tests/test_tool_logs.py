"""Logs of tools: what each file is taken for, and its averages against an independent computation."""

from __future__ import annotations

import gzip
import json
import lzma
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ramgape
from ramgape.errors import InvalidData, RamgapeError

LOGS = Path(__file__).parent / "data" / "logs"
Means = Mapping[str, tuple[int, float]]


def load(name: str) -> Any:
    return json.loads((LOGS / name).read_text())


def summary(frame: pd.DataFrame) -> Means:
    """Trials and the mean of each arm, from columns `arm` and `value`."""
    grouped = frame.groupby("arm")["value"]
    return {str(arm): (int(values.count()), float(values.mean())) for arm, values in grouped}


def of_hyperfine() -> Means:
    rows = [(each["command"], time) for each in load("hyperfine.json")["results"] for time in each["times"]]
    return summary(pd.DataFrame(rows, columns=["arm", "value"]))


def of_pytest_benchmark() -> Means:
    found = load("pytest-benchmark.json")["benchmarks"]
    rows = [(each["fullname"], time) for each in found for time in each["stats"]["data"]]
    return summary(pd.DataFrame(rows, columns=["arm", "value"]))


def of_google_benchmark() -> Means:
    frame = pd.DataFrame(load("google-benchmark.json")["benchmarks"])
    frame = frame[frame["run_type"] == "iteration"]
    scale = frame["time_unit"].map({"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0})
    return summary(pd.DataFrame({"arm": frame["run_name"], "value": frame["real_time"] * scale}))


def of_criterion() -> Means:
    frames = []
    for version in ("base", "new"):
        sample = pd.DataFrame(load(f"criterion/fib/{version}/sample.json"))
        frames.append(pd.DataFrame({"arm": version, "value": sample["times"] / sample["iters"] / 1e9}))
    return summary(pd.concat(frames))


def of_cargo_criterion() -> Means:
    rows = []
    for line in (LOGS / "cargo-criterion.jsonl").read_text().splitlines():
        found = json.loads(line)
        if found["reason"] == "benchmark-complete":
            assert found["unit"] == "ns"
            pairs = zip(found["measured_values"], found["iteration_count"], strict=True)
            rows += [(found["id"], value / count / 1e9) for value, count in pairs]
    return summary(pd.DataFrame(rows, columns=["arm", "value"]))


def of_asv() -> Means:
    found, rows = load("asv.json"), []
    for name, values in found["results"].items():
        row = dict(zip(found["result_columns"], values, strict=False))
        (sizes,) = row["params"]
        for size, samples in zip(sizes, row["samples"], strict=True):
            rows += [(f"{name}({size})", time) for time in samples]
    return summary(pd.DataFrame(rows, columns=["arm", "value"]))


def of_inspect() -> Means:
    """Epochs are averaged within a sample. Archives have the same samples, packed by a method that pandas lacks."""
    rows = []
    for name in ("small", "large"):
        found = json.loads(lzma.decompress((LOGS / f"inspect-{name}.json.xz").read_bytes()))
        model, score = found["eval"]["model"], {"C": 1.0, "I": 0.0}
        rows += [(model, each["id"], score[each["scores"]["match"]["value"]]) for each in found["samples"]]
    frame = pd.DataFrame(rows, columns=["arm", "item", "value"])
    return summary(frame.groupby(["arm", "item"], as_index=False)["value"].mean())


def of_lm_eval() -> Means:
    frames = []
    for size in ("small", "large"):
        (path,) = (LOGS / "lm-eval" / f"mock__{size}").glob("samples_*.jsonl")
        lines = pd.read_json(path, lines=True)
        frames.append(pd.DataFrame({"arm": f"mock/{size}", "value": lines["acc"]}))
    return summary(pd.concat(frames))


def of_promptfoo() -> Means:
    rows = [(each["prompt"]["label"], each["score"]) for each in load("promptfoo.json")["results"]["results"]]
    return summary(pd.DataFrame(rows, columns=["arm", "value"]))


def of_deepeval() -> Means:
    rows = []
    for name in ("deepeval-small", "deepeval-large"):
        found = load(f"{name}.json")
        cases = found.get("testRunData", found)["testCases"]
        rows += [(name, case["metricsData"][0]["score"]) for case in cases]
    return summary(pd.DataFrame(rows, columns=["arm", "value"]))


def of_mlflow() -> Means:
    frame = pd.read_csv(LOGS / "mlflow-runs.csv")
    metric = next(name for name in frame if name.startswith("metrics."))
    return summary(pd.DataFrame({"arm": "lr=" + frame["params.lr"].astype(str), "value": frame[metric]}))


def of_wandb() -> Means:
    frame = pd.read_csv(LOGS / "wandb-runs.csv")
    return summary(pd.DataFrame({"arm": "lr=" + frame["lr"].astype(str), "value": frame["accuracy"]}))


INSPECT = ["inspect-small.eval", "inspect-large.eval"]
CASES: dict[str, tuple[list[str], str, Callable[[], Means]]] = {
    "hyperfine": (["hyperfine.json"], "hyperfine results: 2 commands, 30 trials, outcome 'time'", of_hyperfine),
    "pytest-benchmark": (
        ["pytest-benchmark.json"],
        "pytest-benchmark results: 2 benchmarks, 50 trials, outcome 'time'",
        of_pytest_benchmark,
    ),
    "google-benchmark": (["google-benchmark.json"], "Google Benchmark results: 2 benchmarks,", of_google_benchmark),
    "criterion": (["criterion/fib/*/sample.json"], "2 files, criterion sample: 2 arms (file), 40 trials", of_criterion),
    "cargo-criterion": (["cargo-criterion.jsonl"], "cargo-criterion messages: 2 benchmarks", of_cargo_criterion),
    "asv": (["asv.json"], "asv results: 4 benchmarks, 120 trials, outcome 'time'", of_asv),
    "inspect": (INSPECT, "2 files, inspect log: 2 models, 12 samples, 2 epochs", of_inspect),
    "inspect-json": (["inspect-*.json.xz"], "2 files, inspect log: 2 models, 12 samples, 2 epochs", of_inspect),
    "lm-eval": (
        ["lm-eval/*/samples_*.jsonl"],
        "2 files, lm-evaluation-harness samples: 2 models, 12 documents",
        of_lm_eval,
    ),
    "promptfoo": (["promptfoo.json"], "promptfoo results: 2 arms (prompt), 4 tests", of_promptfoo),
    "deepeval": (["deepeval-*.json"], "2 files, deepeval run: 2 runs, 6 test cases", of_deepeval),
    "mlflow": (["mlflow-runs.csv"], "MLflow runs: 2 configurations, 16 trials", of_mlflow),
    "wandb": (["wandb-runs.csv"], "W&B runs: 2 configurations, 16 trials", of_wandb),
}
TIMES = ("hyperfine", "pytest-benchmark", "google-benchmark", "criterion", "cargo-criterion", "asv")


@pytest.mark.parametrize("case", CASES)
def test_what_a_tool_wrote_is_understood(case: str) -> None:
    files, understood, means = CASES[case]
    analysis = ramgape.analyze([str(LOGS / each) for each in files], next_pulls=0)
    assert understood in analysis.understood
    expected = means()
    assert {arm.name for arm in analysis.result.arms} == set(expected)
    for arm in analysis.result.arms:
        trials, mean = expected[arm.name]
        assert arm.trials == trials
        assert math.isclose(arm.mean, mean, rel_tol=1e-9)
    low = min(expected, key=lambda arm: expected[arm][1])
    high = max(expected, key=lambda arm: expected[arm][1])
    assert (low if case in TIMES else high) in analysis.result.answer


def test_the_shell_minimizes_times(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.cli_support import call

    out = call("analyze", str(LOGS / "criterion/fib/*/sample.json"), "--question", "best").stdout
    faster = min(of_criterion().items(), key=lambda each: each[1][1])[0]
    assert out.startswith(f"Choose {faster}. It has the lowest mean")


# ------------------------------------------------------------------------- one table, four formats

ITEMS, MODELS = 1000, 10


def scores() -> dict[str, list[int]]:
    generator = np.random.default_rng(5)
    easy = generator.uniform(-1.5, 1.5, ITEMS)
    chances = {f"model-{n}": 1.0 / (1.0 + np.exp(-(easy + 0.25 * n))) for n in range(MODELS)}
    return {name: (generator.random(ITEMS) < chance).astype(int).tolist() for name, chance in chances.items()}


def write_csv(folder: Path) -> list[Path]:
    path = folder / "scores.csv"
    rows = [(n, name, value) for name, values in scores().items() for n, value in enumerate(values)]
    pd.DataFrame(rows, columns=["item", "arm", "reward"]).to_csv(path, index=False)
    return [path]


def write_lines(folder: Path) -> list[Path]:
    path = folder / "scores.jsonl.gz"
    with gzip.open(path, "wt") as file:
        for name, values in scores().items():
            file.writelines(f"{json.dumps({'item': n, 'arm': name, 'reward': x})}\n" for n, x in enumerate(values))
    return [path]


def write_inspect(folder: Path) -> list[Path]:
    paths = []
    for name, values in scores().items():
        samples = [{"id": n, "epoch": 1, "scores": {"match": {"value": "CI"[1 - x]}}} for n, x in enumerate(values)]
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps({"version": 2, "eval": {"model": name, "task": "t"}, "samples": samples}))
    return paths


def write_lm_eval(folder: Path) -> list[Path]:
    paths = []
    for name, values in scores().items():
        (folder / name).mkdir()
        paths.append(folder / name / "samples_t_2026-01-01T00-00-00.0.jsonl")
        lines = [{"doc_id": n, "resps": [], "metrics": ["acc"], "acc": float(x)} for n, x in enumerate(values)]
        paths[-1].write_text("\n".join(map(json.dumps, lines)))
    return paths


def test_one_table_has_one_answer_in_four_formats(tmp_path: Path) -> None:
    found = {}
    for write in (write_csv, write_lines, write_inspect, write_lm_eval):
        folder = tmp_path / write.__name__
        folder.mkdir()
        columns: dict[str, Any] = {"item_column": "item"} if write in (write_csv, write_lines) else {}
        analysis = ramgape.analyze(write(folder), question="best", items="population", next_pulls=0, **columns)
        found[write.__name__] = (
            analysis.result.answer,
            analysis.result.stopped,
            sorted((arm.name, arm.trials, round(arm.mean, 12)) for arm in analysis.result.arms),
        )
    first = found["write_csv"]
    assert all(each == first for each in found.values()), found
    table = pd.DataFrame(scores())
    assert first[0] == tuple(table.columns[table.mean() == table.mean().max()])
    assert first[1] == "complete"
    assert [mean for *_, mean in first[2]] == [round(table[name].mean(), 12) for name, *_ in first[2]]


# ------------------------------------------------------------------------------------------- tables


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(2)
    rows = [
        (arm, round(float(generator.normal(mean, 0.1)), 4)) for _ in range(40) for arm, mean in (("Ä", 0.5), ("B", 0.7))
    ]
    return pd.DataFrame(rows, columns=["model", "score"])


TABLES: dict[str, tuple[Callable[[pd.DataFrame, Path], object], str]] = {
    "plain.csv": (lambda table, path: table.to_csv(path, index=False), "CSV"),
    "tabs.tsv": (lambda table, path: table.to_csv(path, index=False, sep="\t"), "CSV with tab"),
    "german.csv": (
        lambda table, path: table.to_csv(path, index=False, sep=";", decimal=","),
        "CSV with ';' and decimal commas",
    ),
    "wide-letters.csv": (lambda table, path: table.to_csv(path, index=False, encoding="utf-16"), "CSV"),
    "packed.csv.gz": (lambda table, path: table.to_csv(path, index=False), "CSV"),
    "packed.csv.xz": (lambda table, path: table.to_csv(path, index=False), "CSV"),
    "packed.csv.zip": (lambda table, path: table.to_csv(path, index=False), "CSV"),
    "lines.jsonl": (lambda table, path: table.to_json(path, orient="records", lines=True), "JSON lines"),
    "array.json": (lambda table, path: table.to_json(path, orient="records"), "JSON array"),
    "table.parquet": (lambda table, path: table.to_parquet(path), "Parquet"),
    "table.feather": (lambda table, path: table.to_feather(path), "Feather"),
    "table.xlsx": (lambda table, path: table.to_excel(path, index=False), "Excel"),
}


@pytest.mark.filterwarnings("ignore:arms are read from column")
@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_same_arms_in_every_form(name: str, tmp_path: Path) -> None:
    write, kind = TABLES[name]
    table = frame()
    write(table, tmp_path / name)
    analysis = ramgape.analyze(tmp_path / name, question="best", next_pulls=0)
    assert analysis.understood == f"{kind}, arms in column 'model', rewards in column 'score'"
    expected = {arm: (40, pytest.approx(mean)) for arm, mean in table.groupby("model")["score"].mean().items()}
    assert {arm.name: (arm.trials, arm.mean) for arm in analysis.result.arms} == expected
    if not name.endswith(("csv", "tsv", "jsonl")):  # of these a part is a table, too
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(InvalidData) as caught:
            ramgape.analyze(tmp_path / name)
        assert len(str(caught.value).splitlines()) == 1


# ------------------------------------------------------------------------------------------ studies


@pytest.mark.parametrize("case", ["hyperfine", "inspect", "lm-eval", "criterion", "mlflow"])
def test_a_log_is_imported_into_a_study(case: str, tmp_path: Path) -> None:
    files, _, means = CASES[case]
    paths = sorted(path for each in files for path in LOGS.glob(each))
    found = [arm for path in paths for arm in _imported(path, tmp_path, sorted(means()))]
    if case != "criterion":  # whose files have the same benchmark
        assert {arm.name: (pytest.approx(arm.mean)) for arm in found} == {
            arm: mean for arm, (_, mean) in means().items()
        }
    assert found


def _imported(path: Path, folder: Path, arms: list[str]) -> list[Any]:
    if "criterion" in path.parts:
        arms = ["fib 20", "fib 21"]
    storage = f"sqlite:///{folder / 'studies.db'}"
    name = f"{path.parent.name}-{path.name}"
    with ramgape.Study.create(name, arms, storage=storage, assumption="unknown", budget=1000) as study:
        count = study.import_trials(path)
        result = study.result()
        assert count == result.trials > 0
        return [arm for arm in result.arms if arm.trials]


@pytest.mark.filterwarnings("ignore:arms are read from column")
@pytest.mark.parametrize("name", ["german.csv", "packed.csv.gz", "array.json", "table.parquet", "table.xlsx"])
def test_a_table_of_any_form_is_imported_into_a_study(name: str, tmp_path: Path) -> None:
    from tests.cli_support import call

    TABLES[name][0](frame(), tmp_path / name)
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    ramgape.Study.create("s", ["Ä", "B"], storage=storage, assumption="unknown", budget=1000).close()
    found = call("study", "import", "s", str(tmp_path / name), "--storage", storage)
    assert found.exit_code == 0, found.output
    assert "80 trials imported" in found.stdout
    bad = frame().assign(score="high")
    TABLES[name][0](bad, tmp_path / name)
    found = call("study", "import", "s", str(tmp_path / name), "--storage", storage, "--reward-column", "score")
    assert found.exit_code == 2
    assert found.stderr.splitlines()[-1].startswith("error: ")
    place = {"array.json": "object 1", "table.parquet": "row 1", "table.xlsx": "row 1"}.get(name, "line 2")
    assert f"{name}, {place}: score must be a number, got 'high'" in found.stderr


@pytest.mark.parametrize("case", ["mlflow", "wandb"])
def test_runs_as_a_frame_are_those_of_the_file(case: str, tmp_path: Path) -> None:
    """What `mlflow.search_runs` returns is a frame; it may have been kept as Parquet, too."""
    files, understood, _ = CASES[case]
    frame = pd.read_csv(LOGS / files[0])
    frame.to_parquet(tmp_path / "runs.parquet")
    expected = ramgape.analyze(str(LOGS / files[0]), question="best", next_pulls=0)
    for data in (frame, tmp_path / "runs.parquet"):
        found = ramgape.analyze(data, question="best", next_pulls=0)
        assert understood in found.understood
        assert found.result.answer == expected.result.answer
        means = {arm.name: arm.mean for arm in found.result.arms}
        assert means == pytest.approx({arm.name: arm.mean for arm in expected.result.arms})


def test_columns_of_runs_may_be_named() -> None:
    frame = pd.read_csv(LOGS / "wandb-runs.csv").astype({"lr": str})
    found = ramgape.analyze(frame, arm_column="lr", reward_column="accuracy", next_pulls=0)
    assert found.understood == ""
    assert {arm.name: arm.mean for arm in found.result.arms} == pytest.approx(dict(frame.groupby("lr").accuracy.mean()))


# ------------------------------------------------------------------------ several outcomes of a log


def test_epochs_and_clusters_are_no_further_trials_of_several_outcomes() -> None:
    """Two epochs of 12 samples on 4 pages are 12 trials of each model, or 4, also where no outcome has a range."""
    options: dict[str, Any] = {
        "objectives": "max mean(match), min mean(tokens)",
        "epsilon": {"match": 0.1, "tokens": 5},
    }
    files = [str(LOGS / each) for each in INSPECT]
    result = ramgape.analyze(files, **options).result
    assert {arm.name: arm.trials for arm in result.arms} == dict.fromkeys(of_inspect(), 12)
    means = {arm.name: arm.objectives["mean(match)"].estimate for arm in result.arms}
    assert means == pytest.approx({arm: mean for arm, (_, mean) in of_inspect().items()})
    clustered = ramgape.analyze(files, **options, cluster_column="metadata.page").result
    assert {arm.trials for arm in clustered.arms} == {4}


def test_a_log_without_scores_is_not_compared_by_its_times(tmp_path: Path) -> None:
    samples = [{"id": n, "epoch": 1, "total_time": 1.0 + n, "error": {"message": "no key"}} for n in range(5)]
    for name in ("a", "b"):
        log = {"version": 2, "eval": {"model": name}, "samples": samples}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    with pytest.raises(InvalidData, match="must have at least one score, got none; it has time, which --reward-column"):
        ramgape.analyze(str(tmp_path / "*.json"))
    assert ramgape.analyze(str(tmp_path / "*.json"), reward_column="time", next_pulls=0).result.direction == "minimize"


@pytest.mark.filterwarnings("ignore:arms are read from column")
def test_an_index_is_not_imported_into_a_study(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "a.csv")
    with ramgape.Study.create("s", ["Ä", "B"], assumption="unknown", budget=1000) as study:
        assert study.import_trials(tmp_path / "a.csv") == 80
        means = frame().groupby("model")["score"].mean()
        assert {arm.name: arm.mean for arm in study.result().arms} == pytest.approx(dict(means))


# ------------------------------------------------------------------------------------ what is wrong


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_truncated_log_gets_one_line(case: str, tmp_path: Path) -> None:
    path = sorted(LOGS.glob(CASES[case][0][0]))[0]
    content = path.read_bytes()
    for length in (0, 1, len(content) // 3, len(content) - 7):
        cut = tmp_path / path.name
        cut.write_bytes(content[:length])
        analysis, complaint = None, ""
        try:
            analysis = ramgape.analyze(cut, next_pulls=0)
        except RamgapeError as error:
            complaint = str(error)
        assert len(complaint.splitlines()) == (analysis is None)
        assert analysis is not None or path.name in complaint or "arms" in complaint
        if analysis is not None:  # a table or lines that end at a row are whole
            assert path.suffix in (".csv", ".jsonl")
            assert length == len(content) - 7
            assert len(analysis.result.arms) > 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b'{"eval": {}, "samples": 3}', "a list 'samples'"),
        (b'{"results": [{"command": "x"}]}', "single runs"),
        (b'{"nothing": [{"known": 1}]}', "known tool"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_the_wrong_kind_gets_one_line(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(InvalidData, match=says) as caught:
        ramgape.analyze(path)
    assert len(str(caught.value).splitlines()) == 1


def test_an_archive_can_do_no_harm(tmp_path: Path) -> None:
    """A member that unpacks to a thousand times its size, and one whose path leads elsewhere."""
    bomb = tmp_path / "bomb.eval"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"model": "m"}}')
        archive.writestr("summaries.json", b" " * 400_000_000)
    with pytest.raises(InvalidData) as caught:
        ramgape.analyze(bomb)
    assert len(str(caught.value).splitlines()) == 1
    stray = tmp_path / "stray.eval"
    with zipfile.ZipFile(stray, "w") as archive:
        archive.writestr("../escaped.json", "{}")
        archive.writestr("header.json", '{"eval": {"model": "m"}, "samples": []}')
    with pytest.raises(RamgapeError):
        ramgape.analyze(stray)
    assert not (tmp_path.parent / "escaped.json").exists()


def test_a_line_without_end_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "endless.csv"
    with path.open("wb") as file:
        file.write(b"arm,reward\nA,")
        file.truncate(2**31)  # a sparse file: 2 GB of zeros on one line
    with pytest.raises(InvalidData) as caught:
        ramgape.analyze(path)
    assert len(str(caught.value).splitlines()) == 1

"""Instance files: what is read, and that every malformed file is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ramgape.errors import InvalidInstance
from ramgape.problems.environments import Arm, Bernoulli, Beta, Data, Gaussian, Instance, Uniform
from ramgape.problems.instances import load_instance

MIXED = """{"name": "mine", "reward_range": [0, 1], "arms": [
  {"name": "A", "distribution": "beta", "a": 2.0, "b": 3},
  {"name": "B", "distribution": "bernoulli", "p": 0.4},
  {"name": "C", "distribution": "uniform", "low": 0.2, "high": 0.9},
  {"name": "D", "distribution": "data", "values": [0.1, 0.4]}]}"""

NORMAL = """{"noise": "gaussian", "sigma_max": 0.5, "arms": [
  {"name": "G", "distribution": "gaussian", "mean": 0.5, "variance": 0.04},
  {"name": "H", "distribution": "gaussian", "mean": 0, "variance": 0.2}]}"""


def written(folder: Path, text: str | bytes, name: str = "mine.json") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_bounded_instance(tmp_path: Path) -> None:
    arms = (
        Arm("A", Beta(2, 3)),
        Arm("B", Bernoulli(0.4)),
        Arm("C", Uniform(0.2, 0.9)),
        Arm("D", Data((0.1, 0.4))),
    )
    assert load_instance(written(tmp_path, MIXED)) == Instance("mine", arms, (0, 1), "bounded")


def test_a_gaussian_instance_named_after_its_file(tmp_path: Path) -> None:
    arms = Arm("G", Gaussian(0.5, 0.04)), Arm("H", Gaussian(0, 0.2))
    expected = Instance("normal", arms, None, "gaussian", sigma_max=0.5)
    assert load_instance(written(tmp_path, NORMAL, "normal.json")) == expected


def test_low_and_high_stretch_beta_and_bernoulli() -> None:
    arms = [
        {"name": "A", "distribution": "beta", "a": 2, "b": 3, "low": -1, "high": 4},
        {"name": "B", "distribution": "bernoulli", "p": 0.5, "high": 2},
    ]
    instance = load_instance({"reward_range": (-1, 4), "arms": arms})
    assert instance.arms == (Arm("A", Beta(2, 3, -1, 4)), Arm("B", Bernoulli(0.5, 0, 2)))


@pytest.mark.parametrize("text", [MIXED, NORMAL])
def test_written_and_read_again(tmp_path: Path, text: str) -> None:
    instance = load_instance(json.loads(text))
    assert load_instance(instance.to_dict()) == instance
    assert load_instance(written(tmp_path, json.dumps(instance.to_dict()))) == instance


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert load_instance(written(tmp_path, b"\xef\xbb\xbf" + MIXED.encode())).name == "mine"


def changed(arm: str | None = None, **top: Any) -> dict[str, Any]:
    """The good description with other keys at the top, or with another second arm."""
    description = {**json.loads(MIXED), **top}
    if arm is not None:
        description["arms"][1] = json.loads(arm)
    return description


def without(key: str) -> dict[str, Any]:
    description = json.loads(MIXED)
    del description[key]
    return description  # type: ignore[no-any-return]


BETA = '{"name": "B", "distribution": "beta", "a": %s, "b": 1}'

MALFORMED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "missing arms": (without("arms"), ["arms must be given"]),
    "missing range": (
        {**without("reward_range"), "noise": "bounded"},
        ["reward_range must be given as [low, high]", "got None"],
    ),
    "empty arms": (changed(arms=[]), ["arms must be at least two", "got ()"]),
    "arms no list": (changed(arms={"A": 1}), ["arms must be a list", "got {'A': 1}"]),
    "arms a number": (changed(arms=3), ["arms must be a list", "got 3"]),
    "unknown key": (
        changed(rewardrange=[0, 1]),
        ["top level", "'rewardrange'", "did you mean 'reward_range'?"],
    ),
    "name no string": (changed(name=3), ["name must be", "got 3"]),
    "name null": (changed(name=None), ["name must be", "got None"]),
    "range backwards": (changed(reward_range=[1, 0]), ["reward_range must be", "low < high", "got [1, 0]"]),
    "range too short": (changed(reward_range=[1]), ["reward_range must be", "got [1]"]),
    "range of strings": (changed(reward_range=["0", 1]), ["reward_range[0] must be a number", "got '0'"]),
    "range infinite": (
        changed(reward_range=[0, float("inf")]),
        ["reward_range[1] must be a number", "got inf"],
    ),
    "range and noise": (changed(noise="gaussian"), ["reward_range must be left out", "got [0, 1]"]),
    "unknown noise": (changed(noise="normal"), ["noise must be", "gaussian", "got 'normal'"]),
    "sigma_max bounded": (changed(sigma_max=1), ["sigma_max must be left out", "got 1"]),
    "arm no object": (changed("[1, 2]"), ["arms[1] must be an object", "got [1, 2]"]),
    "arm without name": (changed('{"distribution": "bernoulli", "p": 1}'), ["arms[1].name must be given"]),
    "arm without distribution": (changed('{"name": "B", "p": 1}'), ["arms[1].distribution must be given"]),
    "unknown distribution": (
        changed('{"name": "B", "distribution": "betta", "a": 1, "b": 1}'),
        ["arms[1].distribution must be one of beta, ", "got 'betta'", "did you mean 'beta'?"],
    ),
    "distribution no string": (
        changed('{"name": "B", "distribution": ["beta"]}'),
        ["arms[1].distribution must be one of", "got ['beta']"],
    ),
    "missing argument": (
        changed('{"name": "B", "distribution": "beta", "a": 1}'),
        ["arms[1].b must be given"],
    ),
    "unknown argument": (
        changed('{"name": "B", "distribution": "gaussian", "mean": 1, "varience": 1}'),
        ["arms[1]: every key must be one of", "got 'varience'", "did you mean 'variance'?"],
    ),
    "argument of another kind": (
        changed('{"name": "B", "distribution": "uniform", "low": 0, "high": 1, "p": 1}'),
        ["arms[1]: every key must be one of", "got 'p'"],
    ),
    "number as string": (changed(BETA % '"2.0"'), ["arms[1].a must be a number", "got '2.0'"]),
    "bool": (changed(BETA % "true"), ["arms[1].a must be a number", "got True"]),
    "null": (changed(BETA % "null"), ["arms[1].a must be a number", "got None"]),
    "list": (changed(BETA % "[1]"), ["arms[1].a must be a number", "got [1]"]),
    "NaN": (changed(BETA % "NaN"), ["arms[1].a must be a number", "got nan"]),
    "Infinity": (changed(BETA % "Infinity"), ["arms[1].a must be a number", "got inf"]),
    "overflow": (changed(BETA % "1e999"), ["arms[1].a must be a number", "got inf"]),
    "huge integer": (changed(BETA % ("9" * 400)), ["arms[1].a must be a number", "got 999"]),
    "negative": (changed(BETA % "-1"), ["arms[1].a must be a number", "got -1"]),
    "low above high": (
        changed('{"name": "B", "distribution": "uniform", "low": 0.5, "high": 0.25}'),
        ["arms[1].low must be less than high, which is 0.25", "got 0.5"],
    ),
    "no values": (changed('{"name": "B", "distribution": "data", "values": []}'), ["arms[1].values must be"]),
    "values no list": (
        changed('{"name": "B", "distribution": "data", "values": "0.1"}'),
        ["arms[1].values must be a list of numbers", "got '0.1'"],
    ),
    "value no number": (
        changed('{"name": "B", "distribution": "data", "values": [0.1, "x"]}'),
        ["arms[1].values[1] must be a number", "got 'x'"],
    ),
    "empty arm name": (
        changed('{"name": "", "distribution": "bernoulli", "p": 1}'),
        ["arms[1].name must be"],
    ),
    "arm name a number": (
        changed('{"name": 1, "distribution": "bernoulli", "p": 1}'),
        ["arms[1].name must be"],
    ),
    "same arm name": (
        changed('{"name": "A", "distribution": "bernoulli", "p": 1}'),
        ["arms[1].name must be a name of its own", "got 'A'"],
    ),
    "outside the range": (
        changed('{"name": "B", "distribution": "uniform", "low": 0, "high": 1.5}'),
        ["arms[1].distribution must be bounded by the reward_range, 0 to 1", "high=1.5"],
    ),
    "gaussian in bounded": (
        changed('{"name": "B", "distribution": "gaussian", "mean": 0.5, "variance": 1}'),
        ["arms[1].distribution must be bounded by the reward_range", "Gaussian(mean=0.5"],
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_descriptions_name_the_place(tmp_path: Path, case: str) -> None:
    description, expected = MALFORMED[case]
    path = written(tmp_path, json.dumps(description))
    for source, beginning in ((description, ""), (path, f"{path}: ")):
        with pytest.raises(InvalidInstance) as caught:
            load_instance(source)
        message = str(caught.value)
        assert message.startswith(beginning)
        assert all(part in message for part in expected), message
        assert len(message) < 400 + len(beginning)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", ["[1, 2]", "null", '"paper:1"', "3"])
def test_the_top_level_is_an_object(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInstance, match=r"mine.json: an instance must be an object .* got "):
        load_instance(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1"),
        ('{"name": "x",\n "arms": [1 2]}', "line 2, column 13"),
        ('{"name": "x",}', "line 1, column"),
        ("{'name': 'x'}", "line 1, column 2"),
        (MIXED + "}", "line 5, column 64"),
        ('{"name": "x\n"}', "line 1, column"),
    ],
)
def test_broken_json_names_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(InvalidInstance) as caught:
        load_instance(written(tmp_path, text))
    assert f"mine.json, {place}" in str(caught.value)
    assert "must be valid JSON, got " in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"a": 2.0,', '"a": 2.0, "a": 1,', r"arms\[0\]: every key must be given once, got 'a'"),
        (
            '"name": "mine",',
            '"name": "x", "name": "mine",',
            "top level: every key must be given once, got 'name'",
        ),
    ],
)
def test_a_key_that_stands_twice(tmp_path: Path, old: str, new: str, place: str) -> None:
    with pytest.raises(InvalidInstance, match=f"mine.json: {place}"):
        load_instance(written(tmp_path, MIXED.replace(old, new)))


@pytest.mark.parametrize("text", ["9" * 5000, "[" * 1_000_000])
def test_json_beyond_the_parser(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInstance, match=r"mine.json must be valid JSON of ordinary size"):
        load_instance(written(tmp_path, text))


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(InvalidInstance, match=r"mine.json must be UTF-8 text, got b'\\xff' at byte 2"):
        load_instance(written(tmp_path, b'{"\xff": 1}'))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInstance, match=r"must be an existing file, got '.*absent.json'"):
        load_instance(tmp_path / "absent.json")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InvalidInstance, match="instance file must be"):
        load_instance(tmp_path)


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, MIXED)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidInstance, match=r"must be readable, got '.*mine.json': Permission denied"):
        load_instance(path)


@pytest.mark.parametrize("path", ["a\0b.json", "x" * 5000 + ".json", "mine.json/more.json"])
def test_paths_that_cannot_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, MIXED)
    with pytest.raises(InvalidInstance, match="instance file must be"):
        load_instance(path)


def test_a_file_that_states_neither_range_nor_noise_is_about_rewards_of_any_kind() -> None:
    instance = load_instance(without("reward_range"))
    assert (instance.noise, instance.reward_range) == ("unknown", None)

"""Arms that share rows or blocks: evidence that allows any dependence there, and what is said where none is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import ramgape
from ramgape import InvalidData, InvalidReward, InvalidSpec, Outcome, Study, analyze, identify
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.studies.specification import StudySpec
from tests.cli_support import call, call_json, complaint

RANGED: dict[str, Any] = {"reward_range": (0.0, 1.0)}
BEST: dict[str, Any] = {"task": "best", "epsilon": 0.1}
INDEPENDENT = "with arms independent of each other"
SHARED = "where arms may depend on each other within a block, and no arm skips a block because of its rewards"
ASSUMPTIONS = {
    "bounded": RANGED,
    "gaussian": {"noise": "gaussian"},
    "any": {"noise": "any"},
    "heavy": {"noise": "heavy:kurtosis=10"},
}
BOXES = {"bounded": "empirical-bernstein", "gaussian": "gaussian", "any": "central-limit", "heavy": "heavy"}


def luck(kind: str, count: int, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Uniform numbers for two arms, row by row."""
    first = generator.random(count)
    return first, {"opposite": 1.0 - first, "equal": first, "independent": generator.random(count)}[kind]


def coins(kind: str, ahead: float, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Rows of two coins, the second `ahead` behind."""
    first, second = luck(kind, count, generator)
    return np.column_stack([first < 0.5 + ahead / 2, second < 0.5 - ahead / 2]).astype(float)


def normals(kind: str, ahead: float, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Rows of two normal arms, the second `ahead` behind, with standard deviation 0.4."""
    first = generator.normal(size=count)
    second = {"opposite": -first, "equal": first, "independent": generator.normal(size=count)}[kind]
    return np.column_stack([0.4 * first, 0.4 * second - ahead])


def wide(rows: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {"A": rows[:, 0], "B": rows[:, 1]}


def errors_of(kind: str, noise: str, runs: int, seed: int, **options: Any) -> tuple[int, int]:
    """How many searches by the default evidence for wide tables are wrong, and how many end.

    Every search looks at the rows one by one and ends as soon as it may. B is exactly epsilon behind A, so B is wrong.
    """
    options = {**ASSUMPTIONS[noise], **BEST, **options}
    make = coins if noise == "bounded" else normals
    generator = np.random.default_rng(seed)
    bound = analyze(wide(make("independent", 0.1, 30, generator)), **options).result.bound
    blocks: dict[str, Any] = {"seeds": range(4_000)} if bound == "central-limit-paired" else {}
    spec = make_spec(["A", "B"], **options, bound=bound, alarm="off", **blocks)
    arms, wrong, ended = np.tile(np.array([0, 1]), 4_000), 0, 0
    for _ in range(runs):
        engine = Engine(spec)
        engine.learn_many(arms, make(kind, 0.1, 4_000, generator).ravel(), may_stop=True)
        ended += engine.stopped == "confidence"
        wrong += engine.stopped == "confidence" and bool(engine.answer()[1])
    return wrong, ended


def test_opposite_rows_are_rarely_wrong() -> None:
    """B can be proved only if the interval of A misses from above or that of B from below, each with 1.25%.

    More than 24 of 300 have a chance of 3e-7 at 2.5%. Products of evidence about both arms err in 10% to 12%.
    """
    wrong, ended = errors_of("opposite", "bounded", 300, seed=31)
    assert ended == 300
    assert wrong <= 24


@pytest.mark.long
@pytest.mark.parametrize("kind", ["opposite", "equal", "independent"])
@pytest.mark.parametrize("noise", ["bounded", "gaussian", "any"])
def test_shared_rows_are_wrong_in_at_most_5_percent(kind: str, noise: str) -> None:
    """By the same count at most 2.5% are wrong: more than 50 of 1,000 have a chance of 3e-6."""
    wrong, ended = errors_of(kind, noise, 1_000, seed=7)
    assert ended == 1_000
    assert wrong <= 50


@pytest.mark.parametrize("kind", ["opposite", "equal", "independent"])
def test_rows_are_still_answered(kind: str) -> None:
    """Coins of 0.7 and 0.3: 400 rows prove what is so, whatever the rows share.

    Seeded; intervals are about 0.09 to either side, so the chance that they do not part is far below 1e-6.
    """
    rows = coins(kind, 0.4, 400, np.random.default_rng(3))
    result = analyze(wide(rows), **RANGED, **BEST).result
    assert (result.front, result.stopped) == (("A",), "confidence")
    assert f"in [0, 1], {SHARED}: " in result.guarantee


class TestTables:
    @pytest.mark.parametrize("noise", ASSUMPTIONS)
    def test_a_wide_table_has_intervals_for_each_arm_or_differences_by_row(self, noise: str) -> None:
        rows = normals("equal", 0.1, 40, np.random.default_rng(1)) * 0.1 + 0.5
        result = analyze(wide(rows), **ASSUMPTIONS[noise], **BEST).result
        paired = noise == "any"
        assert result.bound == ("central-limit-paired" if paired else BOXES[noise])
        words = "which may depend on each other there" if paired else SHARED
        assert words in result.guarantee or "prove nothing yet" in result.guarantee
        assert INDEPENDENT not in result.guarantee

    def test_every_task_has_intervals_for_each_arm(self) -> None:
        frame = pd.DataFrame(wide(coins("opposite", 0.1, 50, np.random.default_rng(1))))
        for task in ("pareto", "best", "top:1", "better-than:control=A", "least-risk"):
            result = analyze(frame, **RANGED, task=task, epsilon=0.1).result
            assert result.bound == "empirical-bernstein", task

    def test_independent_arms_may_be_declared(self) -> None:
        rows = wide(coins("independent", 0.4, 400, np.random.default_rng(3)))
        result = analyze(rows, **RANGED, **BEST, shared=False).result
        assert (result.front, result.stopped, result.bound) == (("A",), "confidence", "pairwise")
        assert f"in [0, 1], {INDEPENDENT}: " in result.guarantee

    def test_a_product_is_refused_where_arms_share_rows(self) -> None:
        with pytest.raises(InvalidSpec, match="intervals for each arm where arms share blocks"):
            analyze({"A": [0.0, 1.0], "B": [1.0, 0.0]}, **RANGED, bound="pairwise")

    def test_long_tables_with_blocks(self) -> None:
        rows = coins("opposite", 0.4, 400, np.random.default_rng(3))
        frame = pd.DataFrame(
            [(arm, reward, day) for day, row in enumerate(rows) for arm, reward in zip("AB", row, strict=True)],
            columns=["arm", "reward", "day"],
        )
        columns = {"arm_column": "arm", "reward_column": "reward"}
        result = analyze(frame, **columns, block_column="day", **RANGED, **BEST).result
        assert (
            result == analyze(list(frame.itertuples(index=False)), shared=True, **RANGED, **BEST).named("reward").result
        )
        assert result.bound == "empirical-bernstein"
        assert analyze(frame, **columns, **RANGED, **BEST).result.bound == "pairwise"
        with pytest.raises(InvalidSpec, match="shared must be true, or absent, where blocks are given, got False"):
            analyze(frame, **columns, block_column="day", shared=False, **RANGED)
        twice = pd.concat([frame, frame.iloc[:1]])
        with pytest.raises(InvalidData, match=r"^row 801: block '0' has two trials of arm 'A'"):
            analyze(twice, **columns, block_column="day", **RANGED)

    def test_a_wide_table_may_name_its_blocks(self) -> None:
        table = {**wide(coins("equal", 0.4, 400, np.random.default_rng(3))), "day": list(range(400))}
        assert [arm.name for arm in analyze(table, block_column="day", **RANGED).result.arms] == ["A", "B"]
        table["day"][7] = 3
        with pytest.raises(InvalidData, match=r"^row 8, column 'A': block '3' has two trials of arm 'A'"):
            analyze(table, block_column="day", **RANGED)

    def test_rows_with_blocks(self) -> None:
        rows = [("A", 0.0, 1), ("B", 1.0, 1), ("A", 1.0, 2), ("B", 1.0, None), ("B", 0.0)]
        assert analyze(rows, shared=True, **RANGED).rows == 5
        with pytest.raises(InvalidData, match=r"row 6: block '1' has two trials of arm 'B', which may depend"):
            analyze([*rows, ("B", 0.5, "1")], shared=True, **RANGED)
        with pytest.raises(InvalidData, match=r"row 1 must be a pair \(arm, reward\), got"):
            analyze(rows, **RANGED)

    def test_items_are_shared_anyway(self) -> None:
        with pytest.raises(InvalidSpec, match="shared must be absent with items"):
            analyze({"A": [0.0, 1.0], "B": [1.0, 0.0]}, items="sample", shared=True, **RANGED)
        table = {"A": [0.0, 1.0], "B": [1.0, 0.0], "day": [1, 2]}
        with pytest.raises(InvalidSpec, match="items must be absent with blocks"):
            analyze(table, items="sample", block_column="day", **RANGED)


class TestShell:
    OPTIONS = ("--reward-range", "0", "1", "--task", "best", "--epsilon", "0.1")

    def write(self, folder: Path) -> tuple[str, str]:
        """A wide file and a long one with the same rows."""
        rows = coins("opposite", 0.4, 300, np.random.default_rng(5))
        pd.DataFrame(wide(rows)).to_csv(folder / "wide.csv", index=False)
        lines = [f"{day},{arm},{reward}" for day, row in enumerate(rows) for arm, reward in zip("AB", row, strict=True)]
        (folder / "long.csv").write_text("\n".join(["day,arm,reward", *lines, ""]))
        return str(folder / "wide.csv"), str(folder / "long.csv")

    def test_analyze(self, tmp_path: Path) -> None:
        wide_file, long_file = self.write(tmp_path)
        columns = ("--arm-column", "arm", "--reward-column", "reward")
        for arguments, bound in (
            ((wide_file, "--wide"), "empirical-bernstein"),
            ((wide_file, "--wide", "--no-shared"), "pairwise"),
            ((long_file, *columns, "--block-column", "day"), "empirical-bernstein"),
            ((long_file, *columns, "--shared"), "empirical-bernstein"),
            ((long_file, *columns), "pairwise"),
        ):
            found = call_json("analyze", *arguments, *self.OPTIONS)
            assert (found["details"]["bound"], found["answer"]) == (bound, ["A"]), arguments
            assert (SHARED if bound == "empirical-bernstein" else INDEPENDENT) in found["details"]["guarantee"]

    def test_blocks_that_cannot_be(self, tmp_path: Path) -> None:
        _, file = self.write(tmp_path)
        command = ("analyze", file, "--arm-column", "arm", "--reward-column", "reward", "--block-column", "day")
        with Path(file).open("a") as log:
            log.write("299,B,1.0\n")
        expected = "long.csv, line 602: block '299' has two trials of arm 'B', which may depend on each other"
        assert complaint(*command, *self.OPTIONS).startswith(expected)
        Path(file).write_text("day,arm,reward\n,A,1\n1,B,0\n")
        expected = "long.csv, line 2: the block must be a name that is not empty"
        assert complaint(*command, *self.OPTIONS).startswith(expected)
        assert "--shared must be true" in complaint(*command, *self.OPTIONS, "--no-shared")

    def test_import(self, tmp_path: Path) -> None:
        _, file = self.write(tmp_path)
        storage = ("--storage", f"sqlite:///{tmp_path / 'studies.db'}")
        arms = ("--arm", "A", "--arm", "B")
        for name, further in (("games", ("--shared",)), ("apart", ())):
            made = call("study", "create", name, *arms, *self.OPTIONS, *further, *storage)
            assert made.exit_code == 0, made.output
        command = ("study", "import", "games", file, "--block-column", "day", *storage)
        assert call_json(*command) == {"imported": 600, "done": True}
        assert "has two trials of arm 'A'" in complaint(*command)
        refused = complaint("study", "import", "apart", file, "--block-column", "day", *storage)
        assert refused.startswith("block must be absent in a study created without shared=True")
        assert call_json("study", "import", "apart", file, *storage)["imported"] == 600
        exported = tmp_path / "trials.csv"
        call("study", "export", "games", str(exported), *storage)
        assert "absent in a study created without shared" in complaint(
            "study", "import", "apart", str(exported), *storage
        )


class TestStudies:
    OPTIONS: ClassVar[dict[str, Any]] = {**RANGED, **BEST, "shared": True}

    def make(self, folder: Path, **changes: Any) -> Study:
        return Study.create("games", ["A", "B"], storage=f"sqlite:///{folder / 's.db'}", **{**self.OPTIONS, **changes})

    def test_it_goes_by_intervals_and_says_so(self) -> None:
        study = Study.create("games", ["A", "B"], **self.OPTIONS)
        for block, row in enumerate(coins("opposite", 0.4, 400, np.random.default_rng(3))):
            for arm, reward in zip("AB", row, strict=True):
                study.observe(arm, float(reward), block=block)
        result = study.result(expect=False)
        assert (result.bound, result.policy, result.front) == ("empirical-bernstein", "ramgape", ("A",))
        assert f"in [0, 1], {SHARED}: " in result.guarantee

    def test_a_block_has_an_arm_once(self, tmp_path: Path) -> None:
        """Also if another process told of it, an answer is held back, or both come together."""
        with self.make(tmp_path, trials=ramgape.Trials(in_order=True)) as study:
            first, _, third, fourth = study.ask(4)
            assert (first.arm, third.arm) == ("A", "A")
            study.tell(third, 1.0, block=1)
            assert study.tell(third, 1.0, block=1).accepted
            with Study.load("games", f"sqlite:///{tmp_path / 's.db'}") as other:
                for observe in (
                    lambda: other.observe("A", 1.0, block="1"),
                    lambda: other.observe_many([("A", Outcome(1.0, block=7)), ("A", Outcome(0.0, block=7))]),
                    lambda: other.tell_many([(fourth, Outcome(1.0, block=5)), (first, Outcome(1.0, block=1))]),
                ):
                    with pytest.raises(InvalidData, match="has two trials of arm"):
                        observe()
                assert other.report(expect=False).result.samples == 0
                other.observe("A", 1.0, block=7, info={"note": "x"})
            study.tell(first, 0.0, block=2)
            for block in (1, 2, 7):
                with pytest.raises(InvalidData, match=f"block '{block}' has two trials of arm 'A'"):
                    study.observe("A", 1.0, block=block)
            assert study.observe("B", 1.0, block=7).accepted
            assert study.trials_frame()["info"][0] == {"note": "x", "ramgape": {"block": "7"}}

    def test_blocks_need_a_study_that_shares_them(self) -> None:
        study = Study.create("coins", ["A", "B"], **RANGED, **BEST)
        assert study.observe("A", 1.0).accepted
        with pytest.raises(InvalidData, match="block must be absent in a study created without shared=True"):
            study.observe("B", 1.0, block=1)
        with pytest.raises(InvalidData, match="block must be absent in a study created without shared=True"):
            study.tell(study.ask()[0], 1.0, block=1)
        assert study.report(expect=False).result.samples == 1
        with pytest.raises(InvalidSpec, match="intervals for each arm where arms share blocks"):
            Study.create("coins", ["A", "B"], **self.OPTIONS, bound="pairwise")
        with pytest.raises(InvalidReward, match="block must be absent outside a study"):
            identify(lambda _: Outcome(1.0, block=3), ["A", "B"], **self.OPTIONS)

    @pytest.mark.parametrize("block", ["", 1.5, True, ["a"], "\ud800"])
    def test_blocks_that_are_none(self, block: Any) -> None:
        study = Study.create("coins", ["A", "B"], **self.OPTIONS)
        with pytest.raises(InvalidData, match="block must be a text that is not empty, or a whole number"):
            study.observe("A", 1.0, block=block)

    def test_data_to_begin_with(self) -> None:
        data = [{"arm": arm, "reward": 1.0, "block": block} for block in range(3) for arm in "AB"]
        study = Study.create("games", ["A", "B"], data=data, **self.OPTIONS)
        with pytest.raises(InvalidData, match="block '2' has two trials of arm 'B'"):
            study.observe("B", 1.0, block=2)
        with pytest.raises(InvalidData, match="block '0' has two trials of arm 'A'"):
            Study.create("games", ["A", "B"], data=[*data, data[0]], **self.OPTIONS)

    def test_behind_a_server(self, server_url: str, tmp_path: Path) -> None:
        data = [{"arm": arm, "reward": 1.0, "block": 0, "info": {"note": "x"}} for arm in "AB"]
        (tmp_path / "trials.csv").write_text("arm,reward,day\nA,1,mon\nB,0,mon\n")
        with Study.create("games", ["A", "B"], data=data, storage=server_url, **self.OPTIONS) as study:
            assert study.spec.search.shared
            study.import_csv(tmp_path / "trials.csv", block_column="day")
            study.tell(study.ask()[0], 1.0, block=2)
            for arm, block in (("A", 0), ("B", "mon"), ("A", "2")):
                with pytest.raises(InvalidData, match=f"block '{block}' has two trials of arm '{arm}'"):
                    study.observe(arm, 1.0, block=block)
            assert study.report(expect=False).result.samples == 5
            assert study.trials_frame()["info"][0] == {"note": "x", "ramgape": {"block": "0"}}

    def test_what_is_stored(self) -> None:
        """It is left out where arms share nothing, so that earlier programs read what they can follow."""
        shared, apart = (
            Study.create("s", ["A", "B"], **{**self.OPTIONS, "shared": each}).spec for each in (True, None)
        )
        assert json.loads(shared.to_text())["search"]["shared"] is True
        assert "shared" not in json.loads(apart.to_text())["search"]
        for spec in (shared, apart):
            assert StudySpec.from_text(spec.to_text()) == spec
        assert apart.differences(shared)[-1] == "shared is False in the store, True here"


@pytest.mark.parametrize("noise", ["bounded", "gaussian", "any"])
def test_sentences_that_rest_on_products_say_so(noise: str) -> None:
    generator = np.random.default_rng(2)
    rows = [
        (arm, float(reward))
        for row in generator.uniform([0.4, 0.0], [0.8, 0.4], (400, 2))
        for arm, reward in zip("AB", row, strict=True)
    ]
    result = analyze(rows, **ASSUMPTIONS[noise], **BEST).result
    assert (result.stopped, result.front) == ("confidence", ("A",))
    assert "pairwise" in result.bound
    assert f", {INDEPENDENT}: " in result.guarantee

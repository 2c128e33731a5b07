"""Files as people have them: each is read right, or refused in one clear line."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ramgape
from ramgape.errors import RamgapeError

pytestmark = pytest.mark.filterwarnings("ignore:(arms|rewards) are read from column")


def frame() -> pd.DataFrame:
    """Forty rewards of each of three arms."""
    generator = np.random.default_rng(1)
    rows = [(arm, round(float(generator.normal(mean, 0.1)), 3)) for _ in range(40) for arm, mean in
            (("A", 0.5), ("B x", 0.7), ("C, d", 0.6))]  # fmt: skip
    return pd.DataFrame(rows, columns=["Modell Name", "Erfolg (%)"])


def wide() -> pd.DataFrame:
    """Fifty rewards of each of three arms, side by side."""
    generator = np.random.default_rng(2)
    return pd.DataFrame(
        {arm: generator.normal(mean, 0.1, 50) for arm, mean in zip("ABC", (0.1, 0.2, 0.6), strict=True)}
    )


def text(table: pd.DataFrame, **options: object) -> bytes:
    return table.to_csv(**{"index": False, **options}).encode("utf-8")  # type: ignore[arg-type]


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    content = io.BytesIO()
    write(content)
    return content.getvalue()


LINES = b"arm,reward\n" + b"".join(b"%s,%d\n" % (arm, value) for arm in (b"A", b"B") for value in (12, 13, 15))
LONG: dict[str, tuple[str, bytes, str]] = {
    "Excel in German": (
        "a.csv",
        b"\xef\xbb\xbf" + text(frame(), sep=";", decimal=","),
        "CSV with ';' and decimal commas",
    ),
    "an index": ("a.csv", text(frame(), index=True), "CSV"),
    "an index in Excel": ("a.xlsx", written(lambda to: frame().to_excel(to)), "Excel"),
    "arms in the index": ("a.parquet", written(lambda to: frame().set_index("Modell Name").to_parquet(to)), "Parquet"),
    "quoted": ("a.csv", text(frame(), quoting=1), "CSV"),
    "old line breaks": ("a.csv", text(frame(), lineterminator="\r"), "CSV"),
    "its separator said": ("a.csv", b"sep=|\n" + text(frame(), sep="|"), "CSV with '|'"),
    "an empty column": ("a.csv", text(frame().assign(**{"": ""})), "CSV"),
}


@pytest.mark.parametrize("case", LONG)
def test_a_table_is_read_right(case: str, tmp_path: Path) -> None:
    name, content, kind = LONG[case]
    (tmp_path / name).write_bytes(content)
    analysis = ramgape.analyze(tmp_path / name, question="best", next_pulls=0)
    expected = frame().groupby("Modell Name")["Erfolg (%)"].mean()
    assert {arm.name: arm.mean for arm in analysis.result.arms} == pytest.approx(dict(expected))
    assert analysis.understood == f"{kind}, arms in column 'Modell Name', rewards in column 'Erfolg (%)'"


def test_a_second_sheet_is_told(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "a.xlsx") as writer:
        frame().to_excel(writer, sheet_name="May", index=False)
        frame().head(2).to_excel(writer, sheet_name="June", index=False)
    analysis = ramgape.analyze(tmp_path / "a.xlsx", question="best", next_pulls=0)
    assert analysis.rows == 120
    assert analysis.understood.startswith("Excel, sheet 'May' (the first of 2), ")


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_an_index_is_no_arm(name: str, tmp_path: Path) -> None:
    content = text(wide(), index=True) if name == "a.csv" else written(lambda to: wide().to_excel(to))
    (tmp_path / name).write_bytes(content)
    analysis = ramgape.analyze(tmp_path / name, wide=True, question="best", next_pulls=0)
    assert {arm.name: arm.mean for arm in analysis.result.arms} == pytest.approx(dict(wide().mean()))


def test_names_with_line_breaks_and_blanks(tmp_path: Path) -> None:
    table = frame().replace({"A": "A\nline two", "C, d": "B x "})
    (tmp_path / "a.csv").write_bytes(text(table))
    analysis = ramgape.analyze(tmp_path / "a.csv", question="best", next_pulls=0)
    assert {arm.name for arm in analysis.result.arms} == {"A\nline two", "B x", "B x "}
    assert any("only blanks tell apart: 'B x' and 'B x '" in warning for warning in analysis.result.warnings)


@pytest.mark.parametrize("header", ["Arm,Reward", "arm, reward", " ARM ,reward "])
def test_usual_names_in_other_letters(header: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(LINES.replace(b"arm,reward", header.encode() + b",n").replace(b"\n", b",1\n", 99)
                                     .replace(b",n,1", b",n"))  # fmt: skip
    analysis = ramgape.analyze(tmp_path / "a.csv", question="best", next_pulls=0)
    assert {arm.name: arm.trials for arm in analysis.result.arms} == {"A": 3, "B": 3}


def test_an_encoding_without_a_mark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(frame().to_csv(index=False).encode("utf-16-le"))
    analysis = ramgape.analyze(tmp_path / "a.csv", encoding="utf-16-le", question="best", next_pulls=0)
    assert len(analysis.result.arms) == 3


def zipped(**members: bytes) -> bytes:
    def write(to: io.BytesIO) -> None:
        with zipfile.ZipFile(to, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    return written(write)


REFUSED: dict[str, tuple[bytes, str]] = {
    "no header": (LINES.partition(b"\n")[2], "must begin with a line that names its columns, got A, 12"),
    "a title": (b"Results of May\n\n" + LINES, "must be the names of at least two columns"),
    "percent": (LINES.replace(b"12", b"12%"), "line 2: column 'reward' must be a finite number"),
    "two files in one": (LINES + LINES, "line 8: column 'reward' must be a finite number from -1e+100 to 1e+100, got "
                         "'reward' for arm 'arm'; the header a second time?"),
    "a comma too many": (LINES.replace(b"13", b"13,"), "line 3: the row must be 2 cells"),
    "the same name twice": (b"arm,reward,reward\nA,1,2\nB,2,3\n", "the name of one column of a.csv, not of 2"),
    "words and numbers": (b"arm,reward\nA,true\nB,1\n", "like the rewards before it, got '1'"),
    "no quotation mark": (LINES.replace(b"B,12", b'"B,12'), "is a quotation mark missing?"),
    "a web page": (b"<table>\n<tr><td>1</td></tr></table>", "a web page or XML"),
    "a pickle": (written(frame().to_pickle), "Python pickle"),
    "packed twice": (gzip.compress(gzip.compress(LINES)), "packed twice"),
    "an archive in an archive": (zipped(a=zipped(b=LINES)), "a zip archive inside of a packed file"),
    "two files in an archive": (zipped(a=LINES, b=LINES), "an archive of one file"),
    "another encoding": (LINES.replace(b"A", b"\xe4"), "--encoding names another one"),
    "an empty list": (b"[]", "objects with the keys of columns"),
    "columns in JSON": (b'{"A": [1, 2], "B": [3, 4]}', "got an object with A, B"),
    "a log without samples": (zipped(**{"header.json": b'{"eval": {"model": "m"}}'}), "at least one trial"),
    "a log without scores": (
        zipped(**{"header.json": b'{"eval": {"model": "m"}}', "summaries.json": b'[{"id": 1}]'}),
        "must have at least one score",
    ),
    "a log without a task": (
        zipped(**{"header.json": b'{"eval": null}', "summaries.json": b"[{}]"}),
        "an object 'eval'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_gets_one_line(case: str, tmp_path: Path) -> None:
    content, says = REFUSED[case]
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(RamgapeError) as caught:
        ramgape.analyze(tmp_path / "a.csv", question="best")
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1

"""A notebook is executed, and its output cells are looked at: answers as HTML, pictures as pictures."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient

import ramgape
from ramgape.views.plots.plot import Plot
from tests.results import make_result

CELLS = {
    "result": """
import asyncio, random
import ramgape
draw = random.Random(1)
SHAPES = {"steady": (40, 40), "wild": (0.2, 0.1), "poor": (1, 3)}
SETTINGS = {"reward_range": (0, 1), "epsilon": 0.2, "alarm": None}
result = ramgape.identify(lambda arm: draw.betavariate(*SHAPES[arm]), list(SHAPES), **SETTINGS)
result
""",
    "plot": "result.plot()",
    # An event loop is running here.
    "awaited": """
async def pull(arm):
    await asyncio.sleep(0)
    return draw.betavariate(*SHAPES[arm])
ramgape.identify(pull, list(SHAPES), **SETTINGS)
""",
    "analysis": """
analysis = ramgape.analyze([(arm, draw.betavariate(*SHAPES[arm])) for _ in range(50) for arm in SHAPES], **SETTINGS)
analysis
""",
    "analysis plot": "analysis.plot()",
    "study": """
study = ramgape.Study.create("in a notebook", arms=list(SHAPES), **SETTINGS)
study.run(lambda arm: draw.betavariate(*SHAPES[arm]), progress=False)
study
""",
    "study plot": "study.plot()",
    "plan": "plan = ramgape.plan('paper:46', epsilon=0.2, epsilons=[], deltas=[], runs=2)\nplan",
    "plan plot": "plan.plot()",
    "replication": "runs = ramgape.replicate('paper:46', runs=3, epsilon=0.2)\nruns",
    "replication plot": "runs.plot()",
    # A figure of pyplot shows itself, and would be seen twice.
    "own axes": "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\nresult.plot(axes)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What stands below each cell, as mime types and data; progress that was shown leaves nothing behind."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        assert not [output for output in cell.outputs if output.output_type == "error"]
    shown = ("execute_result", "display_data")
    return {
        name: [
            dict(output.data) for output in cell.outputs if output.output_type in shown and any(output.data.values())
        ]
        for name, cell in zip(CELLS, notebook.cells, strict=True)
    }


@pytest.mark.parametrize("name", ["result", "awaited", "analysis", "study", "plan", "replication"])
def test_what_is_found_is_a_page_with_a_table(name: str, outputs: dict[str, list[dict[str, Any]]]) -> None:
    (data,) = outputs[name]
    assert "<table" in data["text/html"]
    assert data["text/plain"].startswith("<")  # one line, where nothing else can be shown


@pytest.mark.parametrize("name", ["plot", "analysis plot", "study plot", "plan plot", "replication plot"])
def test_a_picture_is_seen(name: str, outputs: dict[str, list[dict[str, Any]]]) -> None:
    (data,) = outputs[name]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"].startswith("<Plot, 7 x ")
    assert "<Axes" not in json.dumps(data)


def test_axes_of_pyplot_are_seen_once(outputs: dict[str, list[dict[str, Any]]]) -> None:
    assert sum("image/png" in data for data in outputs["own axes"]) == 1


def test_a_plot_is_matplotlibs_to_change(tmp_path: Path) -> None:
    plot = make_result().plot()
    assert isinstance(plot, Plot)
    assert isinstance(plot.figure, Figure)
    plot.axes.set_title("another title")
    before = dict(mpl.rcParams)
    plot.save(tmp_path / "plot.svg")
    assert "another title" in (tmp_path / "plot.svg").read_text()
    assert dict(mpl.rcParams) == before
    shown = plot._repr_png_()
    assert shown is not None
    assert (shown[1]["width"], shown[1]["height"]) == (672, 480)


def test_a_study_that_is_gone_is_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    study = ramgape.Study.create("gone", arms=["a", "b"], epsilon=0.2, storage=url)
    assert "<table" in (study._repr_html_() or "")
    ramgape.delete_study("gone", url)
    assert study._repr_html_() is None

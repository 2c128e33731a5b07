"""The cache of a report: outcomes belong to the code and the data that numbers can depend on, and to nothing else."""

from __future__ import annotations

import grimp

from ramgape.core.kernel import PACKAGE
from ramgape.simulation.kept import sources

# What jobs import although it decides no number: texts, errors, how results are shown, how interrupts are waited for.
WORDS = ("errors.py", "views/", "common/formatting.py", "common/interrupts.py", "common/plane.py", "common/terminal.py")
# What may change without anything being computed again.
ELSEWHERE = ("cli/", "commands/", "storage/", "studies/", "views/")


def file_of(module: str) -> str:
    """The file of a module, by its place in the package."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).relative_to(PACKAGE).as_posix()


def test_the_cache_depends_on_what_jobs_depend_on() -> None:
    graph = grimp.build_graph("ramgape", exclude_type_checking_imports=True, cache_dir=None)
    used = {file_of(module) for module in graph.find_upstream_modules("ramgape.paper.jobs")} | {"paper/jobs.py"}
    counted = {path.relative_to(PACKAGE).as_posix() for path in sources()}
    assert {file for file in used if not file.startswith(WORDS)} <= counted
    assert [file for file in counted if file.startswith(ELSEWHERE + WORDS)] == []
    # These are found by name, which no graph of imports shows.
    for folder in ("bounds", "policies", "risks"):
        assert {path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / folder).glob("*.py")} <= counted
    assert "problems/data/paper_arms.json" in counted

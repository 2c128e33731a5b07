"""What may be asked of a search, by name. `TASKS` is the only list; `Task` says what a further one must give."""

from __future__ import annotations

from ramgape import registry
from ramgape.errors import require
from ramgape.tasks.pareto import Pareto
from ramgape.tasks.task import Boxes, Task, Wanted

__all__ = ["PARETO", "TASKS", "Boxes", "Pareto", "Task", "Wanted", "make_task"]

PARETO = Pareto()  # what is asked unless stated
TASKS: dict[str, type[Task]] = {"pareto": Pareto}


def make_task(task: object) -> Task:
    """A task from its name, or the task itself.

    Args:
        task: A `Task`, or the name of one: built in, registered, or stated by an installed package.

    Raises:
        UnknownName: There is no task of this name.
        InvalidSpec: What has this name is no task and makes none.

    Examples:
        >>> make_task("pareto")
        Pareto()
    """
    if isinstance(task, Task):
        return task
    made = TASKS[str(task)]() if (found := registry.find("task", task, TASKS)) is None else found
    made = made if isinstance(made, Task) or not callable(made) else made()
    require(isinstance(made, Task), "task", "a Task, or a function that makes one", made)
    return made

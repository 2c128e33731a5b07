"""The road for real trials: call the user's function until the goal is reached."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from ramgape.common.checks import check_seed, whole
from ramgape.common.formatting import plural
from ramgape.errors import RamgapeWarning, require
from ramgape.options import IDENTIFY, Options, complete, shows_options
from ramgape.search.inference import infer
from ramgape.search.outcome_spec import make_any_spec
from ramgape.search.result import Result, Stopped, updated
from ramgape.search.single_outcome import make_engine
from ramgape.trials.calls import make_limits
from ramgape.trials.history import Recorder
from ramgape.trials.monitoring import ProgressMonitor, monitored
from ramgape.trials.progress import Callback, check_callback, progress_of
from ramgape.trials.trial_loop import TrialLoop, TrialSettings


def listener(recorder: Recorder, monitor: ProgressMonitor | None, callback: Callback | None) -> Callable[[], object]:
    """What is called after every reward: recorder, display and the callback, which may end the search."""
    engine = recorder.engine
    if monitor is not None:
        monitor.observe(engine)
    elif callback is None:
        return recorder.note

    def hear() -> object:
        recorder.note()
        if monitor is not None:
            monitor.observe(engine)
        return None if callback is None else callback(progress_of(engine))

    return hear


@shows_options(IDENTIFY)
def identify(
    pull: Callable[..., Any],
    arms: Sequence[Any],
    *,
    seed: int | None = None,
    callback: Callback | None = None,
    **options: Unpack[Options],
) -> Result:
    """Find the arms with the best trade-offs between mean reward and risk, with as few pulls as the goal allows.

    Args:
        pull: Tries an arm once and returns its reward: `pull(arm)`, or `pull(arm, rng)` with a NumPy generator; with
            `items` tries it on one of them, `pull(arm, item)` or `pull(arm, item, rng)`. It may be async, also where an
            event loop is running; `raise Retry(after=seconds)` asks for another try. A reward with what the trial has
            cost is an `Outcome`.
        arms: What is handed to `pull`; their text is their name.
        {options}
        seed: Of the generator that `pull` gets, and of the order in rounds. With several `workers` an arm's rewards
            come from it, but not which arms are tried: that depends on who is faster.
        callback: Called after every pull with a `Progress`; a true return value ends the search.

    Returns:
        The arms that are returned, with the evidence. After Ctrl-C it is the result so far.

    Raises:
        InvalidSpec: What is asked for cannot be meant.
        Exception: Whatever `pull` raises, or `InvalidReward`, with `partial_result` attached.

    Examples:
        >>> import ramgape
        >>> def pull(arm, rng):
        ...     return rng.beta(*{"steady": (40, 40), "wild": (0.2, 0.1), "poor": (1, 3)}[arm])
        >>> result = ramgape.identify(pull, ["steady", "wild", "poor"], reward_range=(0, 1), epsilon=0.05, seed=1)
        >>> result.answer
        ('steady', 'wild')
        >>> result.arm("poor").dominated_by
        'steady'
    """
    names = arms if isinstance(arms, str | bytes) or not isinstance(arms, Iterable) else list(arms)
    spec = make_any_spec(names, options)
    settings = settings_of(complete(options, IDENTIFY))
    require(callable(pull), "pull", "a function of one arm, or of an arm and a generator", pull)
    check_callback(callback)
    seed = None if seed is None else check_seed(seed)
    for warning in spec.warnings:
        warnings.warn(warning, RamgapeWarning, stacklevel=2)
    engine = make_engine(spec, seed)
    recorder = Recorder(engine)
    loop = TrialLoop(engine, pull, names, seed, settings)
    try:
        with monitored(options.get("progress")) as monitor:
            loop.heard = listener(recorder, monitor, callback)
            loop.to_the_end()
    except KeyboardInterrupt:
        engine.finish("interrupted")
    except Exception as error:
        with contextlib.suppress(Exception):  # some exceptions refuse attributes; they must arrive all the same
            error.partial_result = found(loop, "error", seed)  # type: ignore[attr-defined]
            error.add_note(f"ramgape: after {engine.samples} rewards; what they show is in this error's partial_result")
        raise
    return updated(found(loop, None, seed), history=recorder.points())


def found(loop: TrialLoop, stopped: Stopped | None, seed: int | None) -> Result:
    """What a search has found, with what became of its trials."""
    result = infer(loop.engine, stopped, seed, quality=loop.quality)
    if not loop.turns.held or result.goal_reached:
        return result
    note = f"not counted, because earlier trials had not ended: {plural(loop.turns.held, 'result')}"
    return updated(result, notes=(*result.notes, note))


def settings_of(asked: Mapping[str, Any]) -> TrialSettings:
    """How trials are made, from the options."""
    workers = whole(asked["workers"], "workers", "a whole number of at least 1", 1)
    require(isinstance(asked["in_order"], bool), "in_order", "true or false", asked["in_order"])
    return TrialSettings(workers, make_limits(asked, asked["retries"]), asked["in_order"])

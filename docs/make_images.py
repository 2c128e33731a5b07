"""Make the pictures in docs/images that show how answers look: planes, screens, and pages if Chromium is installed.

    python docs/make_images.py                 all of them
    python docs/make_images.py plane screen    those whose names begin so
    python docs/make_images.py --into build    elsewhere

To add one, write a function that makes a file, and put it into `MAKERS`. The figures of the reproduction and of the
benchmark are copies from `make reproduce` and `make benchmark`.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from screens import SCREENS, write_screen
from site_pages import site

import ramgape

ROOT = Path(__file__).resolve().parents[1]
Draw = Callable[[random.Random], float]


# --- what is shown ----------------------------------------------------------------------------------------------------


def logged(
    draws: Mapping[str, Draw], rows: int, few: Mapping[str, int] | None = None, **options: Any
) -> ramgape.Result:
    """What so many rows of each arm prove; of some there are fewer."""
    generator = random.Random(1)
    counts = dict.fromkeys(draws, rows) | dict(few or {})
    log = [(arm, draw(generator)) for arm, draw in draws.items() for _ in range(counts[arm])]
    return ramgape.analyze(log, **options).result


def models(number: int) -> dict[str, Draw]:
    """Scores between 0 and 1."""
    generator = random.Random(3)
    found: dict[str, Draw] = {}
    for place in range(number):
        mean, firmness = generator.uniform(0.25, 0.75), generator.uniform(1.0, 20.0)
        found[f"model {place + 1}"] = partial(score, mean * firmness, (1.0 - mean) * firmness)
    return found


def score(alpha: float, beta: float, generator: random.Random) -> float:
    return generator.betavariate(alpha, beta)


def seconds(middle: float, spread: float, generator: random.Random) -> float:
    return generator.lognormvariate(middle, spread)


def scored(number: int = 12, rows: int = 1500, **options: Any) -> ramgape.Result:
    """Some models."""
    return logged(models(number), rows, reward_range=(0, 1), epsilon=0.02, **options)


def timed() -> ramgape.Result:
    """Solvers, of which one is broken."""
    generator = random.Random(7)
    draws = {
        f"solver {k}": partial(seconds, generator.uniform(0.0, 0.5), generator.uniform(0.1, 0.4)) for k in range(1, 12)
    }
    draws["broken"] = partial(seconds, 4.5, 1.0)
    return logged(draws, 400, direction="minimize", epsilon=0.05)


def newcomer() -> ramgape.Result:
    """A model of which little is known."""
    return logged({**models(8), "newcomer": partial(score, 9.0, 5.0)}, 3000, {"newcomer": 5}, reward_range=(0, 1))


def budget() -> ramgape.Result:
    """A search with so many pulls."""
    return ramgape.simulate("paper:46", budget=2000, risk="std", seed=1)


def ceiling() -> ramgape.Result:
    """As docs/guides/questions.md has it."""
    return ramgape.simulate("random-beta:3", risk="std", task="best:max-risk=0.2", epsilon=0.02, seed=1)


def control() -> ramgape.Result:
    """As docs/guides/questions.md has it."""
    task = "better-than:control=5,margin=0.02"
    return ramgape.simulate("paper:46", risk="std", task=task, epsilon=0.02, seed=1)


def study() -> ramgape.Study:
    """A study that is done."""
    generator, draws = random.Random(4), models(6)
    made = ramgape.Study.create("models", arms=list(draws), reward_range=(0, 1), epsilon=0.1, seed=1)
    made.run(lambda arm: draws[arm](generator), progress=False)
    return made


# --- how --------------------------------------------------------------------------------------------------------------


def plane(make: Callable[[], ramgape.Result], file: Path, **options: Any) -> None:
    """A plane, 600 pixels wide."""
    make().plot(**options).figure.savefig(file, dpi=600 / 7.0)


def page(make: Callable[[], Any], width: int, file: Path, dark: bool = False) -> None:
    """A report in a browser, as far as its first screens."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print(f"  {file.name}: left out, there is no Chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        report, outer = Path(folder, "report.html"), Path(folder, "outer.html")
        make().save_html(report)
        # A window cannot be as narrow as a telephone, but a frame can.
        outer.write_text(
            f'<body style="margin:0"><iframe src="report.html" style="border:0;width:{width}px;height:1600px">'
        )
        subprocess.run(
            [
                browser,
                *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
                *(
                    "--disable-component-update",
                    "--disable-sync",
                    "--hide-scrollbars",
                    f"--user-data-dir={folder}/user",
                ),
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                f"--window-size={max(width, 500)},1600",
                f"--screenshot={file}",
                outer.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def example(script: str, made: str, file: Path) -> None:
    """The picture that an example writes."""
    with tempfile.TemporaryDirectory() as folder:
        script = str(ROOT / "examples" / script)
        subprocess.run([sys.executable, script], check=True, capture_output=True, cwd=folder, timeout=600)
        shutil.copyfile(Path(folder, made), file)


def scale(file: Path) -> None:
    """What `python -m benchmarks.scale` has found, which takes a quarter of an hour."""
    found = ROOT / "build" / "scale.json"
    if not found.exists():
        print(f"  {file.name}: left out, python -m benchmarks.scale has not been run")
        return
    sys.path.append(str(ROOT))
    from benchmarks.scale import draw, read_lines

    draw(read_lines(found), file)


def readme(file: Path) -> None:
    """Calls per prompt, with equal shares and with ramgape, and how far each prompt is behind the best."""
    sys.path.append(str(ROOT))
    from benchmarks.prompts import SEEDS, equal_shares
    from ramgape.datasets import load_prompts
    from ramgape.views.plots import style

    data = load_prompts()
    search: dict[str, Any] = {
        "items": data.items,
        "reward_range": (0, 1),
        "question": "best",
        "epsilon": 0.05,
        "seed": 4,
    }
    ours = ramgape.identify(data.ask, data.arms, **search)
    equal = sum(map(equal_shares, range(SEEDS))) / SEEDS
    behind = {
        arm["name"]: arm["objectives"]["mean(reward)"]["behind"] or {"estimate": 0.0, "low": 0.0, "high": 0.0}
        for arm in ours.to_dict()["arms"]
    }
    names = sorted(behind, key=lambda name: -float(behind[name]["estimate"]))
    with style.applied():
        figure = style.new_figure(10, 3.6)
        left, right = figure.subplots(1, 2, sharey=True)
        left.barh(names, [equal / len(names)] * len(names), color="#d9dee3", label="equal shares")
        left.barh(names, [ours.arm(name).trials for name in names], height=0.45, color="#2166ac", label="ramgape")
        left.set_title(f"Calls until proved: {ours.trials:,} instead of about {equal:,.0f}", loc="left")
        left.set_xlabel("Calls per prompt")
        left.legend(loc="lower left", bbox_to_anchor=(0.42, 0.03), frameon=True, framealpha=1.0)
        for name in names:
            found = {key: 100 * float(value) for key, value in behind[name].items()}
            mark = style.MARKS["in" if name in ours.answer else "out"].points(style.MARKER_SIZE)
            right.plot([found["low"], found["high"]], [name, name], color="#8a949e", linewidth=1.5, zorder=1)
            right.plot([found["estimate"]], [name], **mark)
        right.axvline(0.0, color="#2166ac", linewidth=1.0, alpha=0.5, zorder=0)
        sure = 100 * float(ours.certified_epsilon or 0.0)
        right.set_title(f"Answer: {', '.join(ours.answer)}, or within {sure:.1f} points of it", loc="left")
        right.set_xlabel("Points behind, with 95% interval (left is better)")
    figure.savefig(file, dpi=110)


CONTROL = {"task": "better-than:control=model 3"}
MAKERS: dict[str, Callable[[Path], None]] = {
    "readme.png": readme,
    "suppliers.png": partial(example, "quickstart.py", "suppliers.png"),
    "risks.png": partial(example, "risks.py", "risks.png"),
    "task-ceiling.png": lambda file: ceiling().save_plot(file),
    "task-control.png": lambda file: control().save_plot(file),
    "plane-12-arms.png": partial(plane, scored),
    "plane-60-arms.png": partial(plane, partial(scored, 60)),
    "plane-outlier.png": partial(plane, timed),
    "plane-newcomer.png": partial(plane, newcomer),
    "plane-budget.png": partial(plane, budget),
    "plane-ceiling.png": partial(plane, partial(scored, task="best:max-risk=0.2")),
    "plane-floor.png": partial(plane, partial(scored, task="least-risk:min-mean=0.5")),
    "plane-score.png": partial(plane, partial(scored, task="best-score:weight=1")),
    "plane-top.png": partial(plane, partial(scored, task="top:3")),
    "plane-control.png": partial(plane, partial(scored, **CONTROL), plane=True),
    "plane-tail.png": partial(plane, partial(scored, risk="cvar:0.1")),
    "rows-control.png": partial(plane, partial(scored, **CONTROL)),
    "scale.png": scale,
    **{
        f"screen-{name}-{width}.svg": partial(write_screen, make, width)
        for name, (make, widths) in SCREENS.items()
        for width in widths
    },
    "page-1280.png": partial(page, study, 1280),
    "page-1280-dark.png": partial(page, study, 1280, dark=True),
    "page-400.png": partial(page, study, 400),
    "site-list.png": partial(site, "/", ".chip", height=560),
    "site-study-1280.png": partial(site, "/studies/1", "#doubt .line-main", height=1440),
    "site-study-1280-dark.png": partial(site, "/studies/1", "#doubt .line-main", height=1440, dark=True),
    "site-study-400.png": partial(site, "/studies/1", "#doubt .line-main", width=400, height=1600),
    "site-done.png": partial(site, "/studies/2", "#doubt .line-main", height=1440),
    "site-empty.png": partial(site, "/", "#empty pre", height=620, filled=False),
    "site-login.png": partial(site, "/login", "#code", height=520),
}


def main(wanted: list[str]) -> None:
    """Make those whose names begin as is wanted, or all."""
    folder = ROOT / "docs" / "images"
    if "--into" in wanted:
        place = wanted.index("--into")
        folder = Path(wanted[place + 1]).absolute()
        del wanted[place : place + 2]
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ramgape.RamgapeWarning)
    for name, make in MAKERS.items():
        if not wanted or name.startswith(tuple(wanted)):
            print(name, flush=True)
            make(folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])

"""One process: what is read of it, what it has used, and that nothing of ours runs while it does."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramgape.commands.launcher import NOTE
from ramgape.commands.process import KEPT, Child, Launcher, Tail
from ramgape.commands.watchdog import TrialGuard

PYTHON = sys.executable
pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")


@pytest.fixture
def nowhere() -> Iterator[int]:
    descriptor = os.open(os.devnull, os.O_RDWR)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(params=["here", "elsewhere"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The current folder, and another one."""
    return Path.cwd() if request.param == "here" else tmp_path


@pytest.fixture
def launcher(folder: Path, tmp_path: Path) -> Iterator[Launcher]:
    with (tmp_path / "notes").open("w+b") as notes:
        made = Launcher(folder, notes.fileno(), NOTE)
        yield made
        made.close()


def test_a_process_tells_what_it_took(launcher: Launcher, nowhere: int) -> None:
    child = Child(launcher, [PYTHON, "-c", "for _ in range(10**6): pass"], os.environ, (nowhere,) * 3)
    assert child.wait()
    assert (child.code, child.wait()) == (0, True)
    assert child.usage is not None
    assert 0.0 < child.usage.user + child.usage.system < 4.0 * child.seconds
    assert child.usage.memory > 10**6


def test_peak_memory_is_in_bytes(folder: Path, tmp_path: Path, nowhere: int) -> None:
    """Also of small programs: not what we have in memory ourselves, which Linux would count as theirs."""
    taken = []
    ours = b"x" * 700_000_000
    with (tmp_path / "notes").open("w+b") as notes:
        launcher = Launcher(folder, notes.fileno(), NOTE)
        for command in ([PYTHON, "-c", "b'x' * 300_000_000"], ["true"]):
            child = Child(launcher, command, os.environ, (nowhere,) * 3)
            assert child.wait()
            assert child.usage is not None
            taken.append(child.usage)
        launcher.close()
    assert 3e8 < taken[0].memory < 4e8
    assert not taken[0].small
    assert taken[1].memory < 3e7 < len(ours)
    assert taken[1].small  # smaller than the launcher: an upper limit


def test_exit_codes_and_signals(launcher: Launcher, nowhere: int) -> None:
    for line, code in (("exit 7", 7), ("kill -9 $$", -9), ("kill -13 $$", -13)):
        child = Child(launcher, line, os.environ, (nowhere,) * 3)
        assert child.wait()
        assert child.code == code


def test_a_program_that_is_not_there(launcher: Launcher, nowhere: int) -> None:
    child = Child(launcher, ["no-such-program"], os.environ, (nowhere,) * 3)
    with pytest.raises(OSError, match="no-such-program"):
        child.wait()
    assert (child.pid, child.wait()) == (None, True)
    child.send(9)  # to nothing
    child = Child(launcher, ["true"], os.environ, (nowhere,) * 3)
    assert (child.wait(), child.code) == (True, 0)


def test_a_launcher_that_is_ended_is_an_error(launcher: Launcher, nowhere: int) -> None:
    child = Child(launcher, ["sleep", "20"], os.environ, (nowhere,) * 3)
    assert child.pid is not None
    os.kill(launcher.pid, signal.SIGKILL)
    with pytest.raises(OSError, match="starts commands was ended"):
        child.wait()
    os.killpg(child.pid, signal.SIGKILL)


def test_it_runs_in_its_folder_and_leads_its_group(folder: Path, launcher: Launcher, nowhere: int) -> None:
    tail = Tail()
    line = "pwd; echo $(ps -o pgid= -p $$) $$ $(ps -o sid= -p $$)"
    child = Child(launcher, line, os.environ, (nowhere, tail.inlet, nowhere))
    tail.started()
    assert child.wait(10.0, [tail])
    where, groups = tail.text().splitlines()
    tail.close()
    assert Path(where).samefile(folder)
    assert groups.split() == [str(child.pid), str(child.pid), str(launcher.pid)]


def test_output_and_timeouts_need_no_thread(launcher: Launcher, nowhere: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor anything else that would be woken up while time is taken."""
    started: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    tail = Tail()
    child = Child(launcher, f"head -c {3 * KEPT} /dev/zero; echo end", os.environ, (nowhere, tail.inlet, nowhere))
    tail.started()
    assert child.wait(20.0, [tail])
    assert child.code == 0
    text = tail.text()
    tail.close()
    assert len(text) == KEPT
    assert text.endswith("end\n")
    child = Child(launcher, ["sleep", "20"], os.environ, (nowhere,) * 3)
    assert not child.wait(0.1)
    assert 0.1 <= time.perf_counter() - child.started < 5.0
    child.send(9)
    assert child.wait()
    assert child.code == -9
    assert started == []


def test_the_guard_sleeps_while_groups_change() -> None:
    """It is not woken when a command starts: it has used no processor time afterwards."""
    guard = TrialGuard()
    assert guard._shell is not None
    stat = Path(f"/proc/{guard._shell.pid}/status")

    def switches() -> int:
        return sum(int(line.split()[1]) for line in stat.read_text().splitlines() if "ctxt_switches" in line)

    time.sleep(0.3)
    before = switches()
    for number in range(100):
        os.pwrite(guard.groups.fileno(), b"%-12d" % (number + 10**7), 0)
    time.sleep(0.1)
    assert switches() == before
    guard.close()

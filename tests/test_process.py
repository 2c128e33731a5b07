"""One process: what is read of it, what it has used, and that nothing of ours runs while it does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramgape.commands import process
from ramgape.commands.process import KEPT, Child, Tail, peak_memory
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
    """The current folder, where posix_spawn will do, and another one."""
    return Path.cwd() if request.param == "here" else tmp_path


def test_a_process_tells_what_it_took(folder: Path, nowhere: int) -> None:
    child = Child([PYTHON, "-c", "for _ in range(10**6): pass"], os.environ, folder, (nowhere,) * 3)
    assert child.wait()
    assert (child.code, child.wait()) == (0, True)
    assert 0.0 < child.usage.ru_utime + child.usage.ru_stime < 4.0 * child.seconds
    assert (peak_memory(child.usage)[0] or 0) > 10**6


PEAKS = """
import json, os, sys
from pathlib import Path
from ramgape.commands.process import Child, peak_memory
found = []
with open(os.devnull, "r+b") as nowhere:
    for command in ([sys.executable, "-c", "b'x' * 300_000_000"], ["true"]):
        child = Child(command, os.environ, Path(sys.argv[1]), (nowhere.fileno(),) * 3)
        assert child.wait()
        found.append(peak_memory(child.usage))
print(json.dumps(found))
"""


def test_peak_memory_is_in_bytes(folder: Path) -> None:
    """In a process of its own: Linux counts what a process had before its program started, which was its parent's."""
    done = subprocess.run([PYTHON, "-c", PEAKS, str(folder)], capture_output=True, text=True, check=True)
    (large, at_most), (_, limit) = json.loads(done.stdout)
    assert 3e8 < large < 4e8
    assert not at_most
    assert limit or folder != Path.cwd()  # smaller than its parent: an upper limit


def test_exit_codes_and_signals(folder: Path, nowhere: int) -> None:
    for line, code in (("exit 7", 7), ("kill -9 $$", -9), ("kill -13 $$", -13)):
        child = Child(line, os.environ, folder, (nowhere,) * 3)
        assert child.wait()
        assert child.code == code


def test_a_program_that_is_not_there(folder: Path, nowhere: int) -> None:
    with pytest.raises(OSError, match="no-such-program"):
        Child(["no-such-program"], os.environ, folder, (nowhere,) * 3)


@pytest.mark.parametrize("session", [True, False])
def test_it_runs_in_its_folder_and_leads_its_group(folder: Path, nowhere: int, session: bool) -> None:
    tail = Tail()
    line = "pwd; echo $(ps -o pgid= -p $$) $$ $(ps -o sid= -p $$)"
    child = Child(line, os.environ, folder, (nowhere, tail.inlet, nowhere), session=session)
    tail.started()
    assert child.wait(10.0, [tail])
    where, groups = tail.text().splitlines()
    tail.close()
    assert Path(where).samefile(folder)
    assert groups.split() == [str(child.pid), str(child.pid), str(child.pid if session else os.getsid(0))]


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_output_and_timeouts_need_no_thread(
    nowhere: int, has_descriptors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor anything else that would be woken up while time is taken."""
    if not has_descriptors:
        monkeypatch.setattr(process, "_descriptor", lambda _: None)
    started: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    tail = Tail()
    child = Child(f"head -c {3 * KEPT} /dev/zero; echo end", os.environ, Path.cwd(), (nowhere, tail.inlet, nowhere))
    tail.started()
    assert child.wait(20.0, [tail])
    assert child.code == 0
    text = tail.text()
    tail.close()
    assert len(text) == KEPT
    assert text.endswith("end\n")
    child = Child(["sleep", "20"], os.environ, Path.cwd(), (nowhere,) * 3)
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
        guard.watch([number + 10**7])
    time.sleep(0.1)
    assert switches() == before
    guard.close()

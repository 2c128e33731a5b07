"""One client that floods a server at full speed, while others work; `python -m tests.flood` measures all floods.

The server is `ramgape serve` over a store with thousands of studies. Three workers exchange trials of one study, and a
poller asks for /healthz, on a new connection each time. One more process does the worst it can, without a token or with
one for reading one study.

The flood has a processor and a session of its own, as if it ran on another machine; server, workers and poller share
the other processors. So a lower rate shows what the flood costs the server, and not what it costs to make one. Slices
without the flood, with as many threads that compute on its processor, and with the flood take turns, since other
programs may compete for the machine: a flood drives these to the processors of the server, and so do threads that
compute. Compare the rate with the flood with that without on an idle machine, and with the other on a busy one. Each
slice with the flood begins when the token has spent its first seconds of processor time, which it gets back in the
slices between.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

from ramgape import Study
from ramgape.web.access.token_file import TokenFile

WORKERS = 3
LINES = 16  # threads of the flood
FLOODER = "127.0.0.2"  # its address: as good as another machine
MANY = 3_000  # connections that it tries to hold
SLICE = 10.0  # seconds of a flood at a time
SPENT = 4.0  # seconds after which a token has used up what it may take at once
HUGE = 5_000_000  # bytes
BIND_WITHOUT_PORT = 24  # IP_BIND_ADDRESS_NO_PORT of Linux: connect chooses the port, among many more
CHUNKED = "Transfer-Encoding: chunked"
Send = Callable[["Target"], None]


class Target(NamedTuple):
    """Where a flood goes, and with what in its hands."""

    port: int
    token: str
    study: int
    other: int  # a study that the token may not see

    def connect(self) -> socket.socket:
        """A connection of its own. Closing it leaves nothing behind, so that the flood never runs out of ports."""
        made = socket.socket()
        made.settimeout(5)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        made.setsockopt(socket.IPPROTO_IP, BIND_WITHOUT_PORT, 1)
        made.bind((FLOODER, 0))
        try:
            made.connect(("127.0.0.1", self.port))
        except OSError:
            made.close()
            raise
        return made

    def head(self, method: str, path: str, *more: str, known: bool = False) -> bytes:
        """The beginning of a request."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Content-Type: application/json"]
        lines += [f"Authorization: Bearer {self.token}"] if known else []
        return "\r\n".join([*lines, *more, "", ""]).encode()


# --- floods -----------------------------------------------------------------------------------------------------------


def hold(target: Target, first: bytes, many: int = MANY) -> None:
    """Open connections, say something on each, and hold as many as one can."""
    held: list[socket.socket] = []
    while True:
        with suppress(OSError):
            made = target.connect()
            if first:
                made.sendall(first)
            held.append(made)
        if len(held) > many // LINES:
            held.pop(0).close()


def repeat(target: Target, request: bytes, fresh: bool = False) -> None:
    """Ask the same again and again, on one connection for as long as it lasts."""
    while True:
        with suppress(OSError), target.connect() as line:
            while True:
                line.sendall(request)
                if not line.recv(65_536) or fresh:
                    break


def leave(target: Target, request: bytes) -> None:
    """Ask, and close the connection before the answer comes, again and again."""
    while True:
        with suppress(OSError), target.connect() as line:
            line.sendall(request)
            time.sleep(0.01)  # or the reset would overtake the request


def ask(target: Target, path: str) -> None:
    """GET something, at full speed."""
    line = HTTPConnection("127.0.0.1", target.port, timeout=60, source_address=(FLOODER, 0))
    while True:
        try:
            line.request("GET", path, headers={"Authorization": f"Bearer {target.token}"})
            line.getresponse().read()
        except (OSError, HTTPException):
            line.close()


def compute(target: Target) -> None:
    """Nothing to the server: load on the machine alone, of threads that all run."""
    while True:
        hashlib.sha256(BAD).digest()


KEYS = json.dumps({f"k{place}": 0 for place in range(7_400)})[:65_000].encode()
BAD = b'{"answers":[' + b",".join([b"{}"] * (HUGE // 3)) + b"]}"


def with_body(target: Target, path: str, body: bytes, method: str = "POST", known: bool = True) -> bytes:
    """A whole request."""
    return target.head(method, path, f"Content-Length: {len(body)}", known=known) + body


def study(target: Target, rest: str = "") -> str:
    """The address of the study that the token is for."""
    return f"/api/v1/studies/{target.study}{rest}"


CHUNKS = b"1\r\nx\r\n" * 43_000  # as many as are read at once
HEADERS = ["a:b"] * 12_000


def drip(target: Target, first: bytes, many: int = 16) -> None:
    """Send the beginning of a request on several connections, and then a byte after the other."""
    lines: list[socket.socket] = []
    while True:
        while len(lines) < many:
            with suppress(OSError):
                lines.append(target.connect())
                lines[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                lines[-1].sendall(first)
        for line in lines[:]:
            try:
                line.sendall(b"x")
            except OSError:
                line.close()
                lines.remove(line)


STRANGE: dict[str, Send] = {
    "idle connections": lambda to: hold(to, b""),
    "connections that say half a request": lambda to: hold(to, b"GET / HTTP/1.1\r\nX: "),
    "connections that come and go": lambda to: hold(to, b"", 0),
    "health": lambda to: repeat(to, to.head("GET", "/healthz")),
    "health, on new connections": lambda to: repeat(to, to.head("GET", "/healthz"), fresh=True),
    "requests behind one another": lambda to: repeat(to, to.head("GET", "/healthz") * 2000),
    "logins with many keys": lambda to: repeat(to, with_body(to, "/api/v1/login", KEYS, known=False)),
    "logins with 4 KB of keys": lambda to: repeat(to, with_body(to, "/api/v1/login", KEYS[:4000] + b"0}", known=False)),
    "slow bodies": lambda to: hold(to, to.head("POST", "/api/v1/login", "Content-Length: 4000") + b"{"),
    "huge bodies": lambda to: repeat(to, with_body(to, study(to, "/exchange"), BAD, known=False)),
    "bodies in parts of a byte": lambda to: repeat(to, to.head("POST", "/api/v1/login", CHUNKED) + CHUNKS),
    "thousands of headers": lambda to: repeat(to, to.head("GET", "/healthz", *HEADERS)),
    "headers a byte at a time": lambda to: drip(to, b"GET / HTTP/1.1\r\nX: "),
    "bodies a byte at a time": lambda to: drip(to, to.head("POST", "/api/v1/login", "Content-Length: 4000")),
    "long addresses": lambda to: repeat(to, to.head("GET", "/static/" + "../a/" * 10_000)),
    "long questions": lambda to: repeat(to, to.head("GET", "/healthz?" + "a=b&" * 15_000)),
    "other hosts": lambda to: repeat(to, b"GET / HTTP/1.1\r\nHost: elsewhere\r\n\r\n"),
    "guessed tokens": lambda to: repeat(to, to.head("GET", "/api/v1", "Authorization: Bearer rg_guess")),
}
READING: dict[str, Send] = {
    "huge bodies": lambda to: repeat(to, with_body(to, study(to, "/exchange"), BAD)),
    "huge bodies for studies": lambda to: repeat(to, with_body(to, "/api/v1/studies", BAD)),
    "bodies in parts of a byte": lambda to: repeat(
        to, to.head("POST", study(to, "/ask"), CHUNKED, known=True) + CHUNKS
    ),
    "what no address serves": lambda to: repeat(to, to.head("PATCH", study(to, "/x" * 20_000), known=True)),
    "long questions": lambda to: repeat(to, to.head("GET", "/api/v1/studies?" + "name=b&" * 9_000, known=True)),
    "headers a byte at a time": lambda to: drip(to, to.head("GET", "/api/v1", known=True) + b"GET / HTTP/1.1\r\nX: "),
    "GET with a huge body": lambda to: repeat(to, with_body(to, study(to), BAD, "GET")),
    "the list, 1 of it": lambda to: ask(to, "/api/v1/studies?limit=1"),
    "the list, all of it": lambda to: ask(to, "/api/v1/studies?limit=1000"),
    "the list by state": lambda to: ask(to, "/api/v1/studies?state=done"),
    "streams": lambda to: hold(to, to.head("GET", study(to, "/events"), known=True), 1000),
    "streams of the list": lambda to: hold(to, to.head("GET", "/api/v1/events", known=True), 1000),
    "streams that come and go": lambda to: hold(to, to.head("GET", study(to, "/events"), known=True), 0),
    "idle connections": lambda to: hold(to, to.head("GET", "/api/v1", known=True)),
    "small requests": lambda to: ask(to, "/api/v1"),
    "studies of others": lambda to: ask(to, f"/api/v1/studies/{to.other}"),
    "reports": lambda to: ask(to, study(to, "?expect=true&history=true")),
    "report pages": lambda to: ask(to, study(to, "/report.html")),
    "pictures of 4000 pixels": lambda to: ask(to, study(to, "/plane.png?width=4000")),
    "rows of an unknown worker": lambda to: ask(to, study(to, "/observations?worker=none")),
    "exports": lambda to: ask(to, study(to, "/export.csv")),
    "exports that it does not wait for": lambda to: leave(to, to.head("GET", study(to, "/export.csv"), known=True)),
}
FLOODS: dict[str, Send] = {f"without a token: {name}": send for name, send in STRANGE.items()} | {
    f"with a read token: {name}": send for name, send in READING.items()
}


@contextmanager
def flooding(target: Target, send: Send, processors: set[int]) -> Iterator[int]:
    """Start a process with many threads that all do the same, and yield its number."""

    def flood() -> None:
        os.setsid()  # Linux shares processors by session: in one session, the flood would take the server's share
        os.sched_setaffinity(0, processors)
        for _ in range(LINES):
            threading.Thread(target=send, args=(target,), daemon=True).start()
        signal.pause()

    process = multiprocessing.get_context("fork").Process(target=flood, daemon=True)
    process.start()
    assert process.pid is not None
    try:
        yield process.pid
    finally:
        process.kill()
        process.join()


@contextmanager
def leaving_one_processor() -> Iterator[set[int]]:
    """Keep this process and those that it starts off one processor, which is given."""
    all_of_them = os.sched_getaffinity(0)
    one = {min(all_of_them)}
    os.sched_setaffinity(0, all_of_them - one or one)
    try:
        yield one
    finally:
        os.sched_setaffinity(0, all_of_them)


# --- those who work ---------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What the others had meanwhile."""

    exchanges: int = 0
    seconds: float = 0.0
    health: tuple[float, ...] = ()  # seconds that each request for /healthz took
    used: float = 0.0  # seconds of processor time of the server
    flood: float = 0.0  # and of the flood

    @property
    def rate(self) -> float:
        """Exchanges a second."""
        return self.exchanges / self.seconds

    def cost_beside(self, without: Seen) -> float:
        """Of a processor, as much as the flood took of the server's: all that was not spent on exchanges."""
        return (self.used - self.exchanges * without.used / max(without.exchanges, 1)) / self.seconds

    @property
    def slowest(self) -> float:
        """Seconds for /healthz, of 99 in 100 at most."""
        return sorted(self.health)[int(0.99 * len(self.health))]

    def and_then(self, later: Seen) -> Seen:
        """Both together."""
        return Seen(*(mine + theirs for mine, theirs in zip(self, later, strict=True)))  # type: ignore[operator]


def work(port: int, token: str, number: int, until: float) -> int:
    """Exchange trials until then; how many."""
    line, done = HTTPConnection("127.0.0.1", port, timeout=60), 0
    answers: list[dict[str, object]] = []
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    while time.monotonic() < until:
        try:
            line.request("POST", f"/api/v1/studies/{number}/exchange", json.dumps({"answers": answers}), headers)
            pulls = json.loads(line.getresponse().read())["pulls"]
        except (OSError, HTTPException, ValueError, KeyError):
            line.close()
            continue
        done += len(answers)
        answers = [{"pull": pull["id"], "reward": 0.5} for pull in pulls]
    return done


def poll(port: int, until: float) -> list[float]:
    """How long /healthz took, each time on a new connection; one that gives no answer took for ever."""
    found = []
    while time.monotonic() < until:
        began, took = time.perf_counter(), float("inf")
        with suppress(OSError, HTTPException):
            line = HTTPConnection("127.0.0.1", port, timeout=10)
            line.request("GET", "/healthz")
            if line.getresponse().read() == b'{"status":"ok"}':
                took = time.perf_counter() - began
            line.close()
        found.append(took)
        time.sleep(0.1)
    return found


def processor_time(process: int) -> float:
    """Seconds that a process has computed; 0 for no process."""
    if not process:
        return 0.0
    found = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


def watch(port: int, token: str, number: int, seconds: float, server: int, flood: int = 0) -> Seen:
    """What workers and the poller get done in a while, and what the server and a flood compute meanwhile."""
    until, before = time.monotonic() + seconds, [processor_time(each) for each in (server, flood)]
    with multiprocessing.get_context("fork").Pool(WORKERS + 1) as pool:
        working = [pool.apply_async(work, (port, token, number, until)) for _ in range(WORKERS)]
        polled = pool.apply_async(poll, (port, until)).get()
        done = sum(each.get() for each in working)
    used = (processor_time(each) - then for each, then in zip((server, flood), before, strict=True))
    return Seen(done, seconds, tuple(polled), *used)


def make_studies(folder: Path, count: int) -> str:
    """A store with one study that is worked on, one that is read, and many more."""
    storage = f"sqlite:///{folder}/s.db"
    options: dict[str, Any] = {"reward_range": (0, 1), "budget": 10_000_000}
    for name in ("work", "read"):
        Study.create(name, [*"abcdefgh"], storage=storage, **options).close()
    with Study.load("read", storage) as read:
        read.observe_many([("abcdefgh"[place % 8], (place * 7 % 11) / 10) for place in range(20_000)])
    for place in range(count):
        Study.create(f"other-{place:05}", [*"ab"], storage=storage, reward_range=(0, 1), epsilon=0.1).close()
    return storage


@contextmanager
def serving(folder: Path, storage: str, *options: str) -> Iterator[tuple[int, str, subprocess.Popen[str]]]:
    """The port of `ramgape serve`, its own token, and the process."""
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-m", "ramgape", "serve", "--port", "0", "--json", "--storage", storage, *options]
    with subprocess.Popen(command, stdout=-1, stderr=subprocess.DEVNULL, text=True, env=environment) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        try:
            own = json.loads(Path(said["token_file"]).read_text())
            yield int(said["address"].rpartition(":")[2]), own["token"], process
        finally:
            process.kill()


def measure(
    folder: Path, count: int, seconds: float, floods: dict[str, Send]
) -> Iterator[tuple[str, Seen, Seen, Seen]]:
    """Each flood: its name; what the others had without it, beside one that only computes, and with it."""
    storage = make_studies(folder, count)
    reading = TokenFile(folder / "state/ramgape/tokens.json").add("read", ["read"])[1]
    with leaving_one_processor() as free, serving(folder, storage) as (port, token, process):
        line, numbers = HTTPConnection("127.0.0.1", port, timeout=60), {}
        for name in ("read", "work"):
            line.request("GET", f"/api/v1/studies?name={name}", headers={"Authorization": f"Bearer {token}"})
            numbers[name] = json.loads(line.getresponse().read())["studies"][0]["id"]
        line.close()
        target = Target(port, reading, numbers["read"], numbers["work"])
        others = partial(watch, port, token, numbers["work"], server=process.pid)
        others(seconds=2.0)  # compiled, and warm
        for name, send in floods.items():
            without, beside, during, slices = Seen(), Seen(), Seen(), max(round(seconds / SLICE), 1)
            for _ in range(slices):
                without = without.and_then(others(seconds=seconds / slices / 2))
                with flooding(target, compute, free):
                    beside = beside.and_then(others(seconds=seconds / slices / 2))
                with flooding(target, send, free) as flood:
                    time.sleep(SPENT)
                    during = during.and_then(others(seconds=seconds / slices, flood=flood))
            yield name, without, beside, during


def main() -> None:
    """Measure, and print a line for each flood."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--studies", type=int, default=3_000)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    floods = {name: send for name, send in FLOODS.items() if given.only in name}
    memory = Path("/dev/shm")  # where there is one, so that a busy disk is not measured
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        for name, without, beside, during in measure(Path(folder), given.studies, given.seconds, floods):
            shares = ", ".join(f"{during.rate / max(each.rate, 0.01):4.2f}" for each in (without, beside))
            rates = f"{without.rate:4.0f}, {beside.rate:4.0f} -> {during.rate:4.0f}/s ({shares})"
            health = f"/healthz p99 {without.slowest:5.3f}, {beside.slowest:5.3f} -> {during.slowest:5.3f} s"
            cost = f"{during.cost_beside(without):5.2f} of a processor; the flood {during.flood / during.seconds:5.2f}"
            sys.stdout.write(f"{name:55} {rates}, {health}, {cost}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

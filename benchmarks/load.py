"""Workers of a server, as cheap as can be: a process with many of them, or with many who watch.

`python -m benchmarks.load work ADDRESS TOKEN STUDY WORKERS BATCH` waits for lines with a number of seconds; for each it
works so long and prints how many trials were told, in how many seconds, and the times of requests at which half and 99
of a hundred were answered. With `watch` it reads the events of a study, as many streams as there are workers, and
prints how many came.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from urllib.parse import urlsplit


class Connection:
    """HTTP over one connection, for those who send many requests to the same place."""

    def __init__(self, address: str, token: str) -> None:
        place = urlsplit(address)
        self._place = place.hostname, place.port
        self._head = f"Host: {place.netloc}\r\nAuthorization: Bearer {token}\r\n"

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(*self._place)

    async def send(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The answer's head."""
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{self._head}{kind}\r\n".encode() + body)
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.split(b"\r\n", 1)[0], head
        return head.lower()

    async def post(self, path: str, body: bytes) -> bytes:
        head = await self.send("POST", path, body)
        size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        return await self._reader.readexactly(size)

    async def lines(self, path: str) -> asyncio.StreamReader:
        await self.send("GET", path)
        return self._reader


class Worker:
    """One that works on a study, with so many pulls at a time."""

    def __init__(self, connection: Connection, study: str, name: str, batch: int) -> None:
        self._connection, self._path = connection, f"/api/v1/studies/{study}/exchange"
        self._asked = {"count": batch, "worker": name}
        self._answers: list[dict[str, object]] = []

    async def work(self, until: float, times: list[float]) -> int:
        """How many trials it has told by then."""
        told = 0
        while time.monotonic() < until:
            body = json.dumps({**self._asked, "answers": self._answers}).encode()
            begun = time.perf_counter()
            answer = json.loads(await self._connection.post(self._path, body))
            times.append(time.perf_counter() - begun)
            told += len(self._answers)
            self._answers = [{"pull": pull["id"], "reward": pull["seed"] % 1000 / 1000} for pull in answer["pulls"]]
        return told


async def opened(address: str, token: str, count: int) -> list[Connection]:
    connections = [Connection(address, token) for _ in range(count)]
    for connection in connections:
        await connection.open()
    return connections


async def work(address: str, token: str, study: str, workers: str, batch: str) -> None:
    connections = await opened(address, token, int(workers))
    crew = [Worker(each, study, f"worker-{number}", int(batch)) for number, each in enumerate(connections)]
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        times: list[float] = []
        begun = time.monotonic()
        told = sum(await asyncio.gather(*(each.work(begun + float(line), times) for each in crew)))
        half, most = (statistics.quantiles(times, n=100)[at] if len(times) > 1 else times[0] for at in (49, 98))
        print(told, time.monotonic() - begun, half, most, flush=True)


async def watch(address: str, token: str, study: str, watchers: str, _: str) -> None:
    connections = await opened(address, token, int(watchers))
    seen = [0]

    async def read(connection: Connection) -> None:
        lines = await connection.lines(f"/api/v1/studies/{study}/events")
        while line := await lines.readline():
            seen[0] += line.startswith(b"event: picture")

    tasks = [asyncio.ensure_future(read(each)) for each in connections]
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(seen[0], flush=True)
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run({"work": work, "watch": watch}[sys.argv[1]](*sys.argv[2:]))

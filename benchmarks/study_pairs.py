"""One process of `benchmarks.studies`: pairs of ask and tell on a study that exists, ours or Optuna's.

Ours are exchanges: what was asked for is told in the transaction that asks for the next.

Prints "ready", waits for a line, works for the time given there, and prints how many pairs it made in how many seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

ARMS = [f"arm {number}" for number in range(10)]
STUDY = "pairs"
REWARD = 0.5
THREADS = 16  # of Optuna's behind its proxy


def pair_of(kind: str, url: str) -> Callable[[], int]:
    """A function that makes some pairs, and returns how many."""
    if kind == "optuna":
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        known = optuna.load_study(study_name=STUDY, storage=url, sampler=optuna.samplers.RandomSampler())

        def optuna_pair() -> int:
            trial = known.ask()
            trial.suggest_categorical("arm", ARMS)
            known.tell(trial, REWARD)
            return 1

        return optuna_pair

    if kind.startswith("grpc:"):
        return grpc_pairs(int(kind.partition(":")[2]))

    from ramgape import Study

    study, batch = Study.load(STUDY, url), int(kind)
    pulls = study.exchange(count=batch).pulls

    def pair() -> int:
        nonlocal pulls
        exchanged = study.exchange([(pull, REWARD) for pull in pulls], count=batch)
        pulls = exchanged.pulls
        return len(exchanged.answers)

    return pair


def grpc_pairs(port: int) -> Callable[[], int]:
    """A function by which many threads make a pair each, through Optuna's proxy."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    proxy = optuna.storages.GrpcStorageProxy(host="localhost", port=port)
    proxy.wait_server_ready(timeout=60)
    known = optuna.load_study(study_name=STUDY, storage=proxy, sampler=optuna.samplers.RandomSampler())

    def pair(_: int) -> None:
        trial = known.ask()
        trial.suggest_categorical("arm", ARMS)
        known.tell(trial, REWARD)

    pool = ThreadPoolExecutor(THREADS)
    return lambda: len(list(pool.map(pair, range(THREADS))))


def main() -> None:
    """Begin when told to."""
    kind, url = sys.argv[1:]
    if kind.startswith("grpc-server:"):
        import optuna

        storage = optuna.storages.RDBStorage(url)
        optuna.storages.run_grpc_proxy_server(storage, host="localhost", port=int(kind.partition(":")[2]))
    pair = pair_of(kind, url)
    pair()
    print("ready", flush=True)
    for line in sys.stdin:
        length, count, begun = float(line), 0, time.perf_counter()
        while (taken := time.perf_counter() - begun) < length:
            count += pair()
        print(count, taken, flush=True)


if __name__ == "__main__":
    main()

"""Ctrl-C is never lost, and never raised where it would be."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from ramgape.common.interrupts import interrupts_deferred


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    steps = []

    def work() -> None:
        with interrupts_deferred():
            steps.append("before")
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["before", "after"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_callers_own_handler_hears_of_it() -> None:
    heard = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with interrupts_deferred():
            os.kill(os.getpid(), signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupts_deferred():
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, usual)


def test_other_threads_go_on_as_they_are() -> None:
    done = []

    def work() -> None:
        with interrupts_deferred():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_an_error_in_the_block_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), interrupts_deferred():
        raise ZeroDivisionError

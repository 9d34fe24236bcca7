"""Processes of a session, which end with it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

from tameshi.core.errors import TameshiError
from tameshi.serve.kernel import die_with_parent

_TERMINAL = (signal.SIGINT, signal.SIGHUP, signal.SIGTSTP)


def run_owned(work: Callable[[str, int], None]) -> int:
    """Work as `python -m MODULE SPEC CONTROL_FD PARENT` until the owner is gone; return the exit
    status."""
    spec, control, parent = sys.argv[1:]
    _ignore(*_TERMINAL, signal.SIGTTOU)
    die_with_parent(int(parent), signal.SIGKILL)
    try:
        work(spec, int(control))
    except TameshiError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


def await_end() -> None:
    """Wait until the session, which holds the other end of standard input, is gone."""
    _ignore(*_TERMINAL, signal.SIGTERM)
    sys.stdin.buffer.read()


def _ignore(*signals: signal.Signals) -> None:
    for ignored in signals:
        signal.signal(ignored, signal.SIG_IGN)

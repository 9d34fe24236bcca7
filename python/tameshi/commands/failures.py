"""Messages and exit statuses of failed commands; a fault of Tameshi leaves a file to report."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

from rich.console import Console

from tameshi.core.environment import tameshi_version
from tameshi.core.errors import TameshiError
from tameshi.core.exit_status import ExitStatus
from tameshi.core.system_errors import explained


def told(error: Exception) -> ExitStatus:
    """Print one message on standard error; return the exit status."""
    known = explained(error) if isinstance(error, OSError) else error
    if isinstance(known, TameshiError):
        _print(str(known))
        return ExitStatus(known.exit_status)
    summary = traceback.format_exception_only(error)[-1].strip()
    _print(f"unexpected error: {summary}. This is a fault of Tameshi, not of your input.")
    _print(_kept(error, sys.argv))
    return ExitStatus.UNEXPECTED


def _kept(error: Exception, command: Sequence[str]) -> str:
    """Write the file to report; return a sentence with its path, or the report itself."""
    text = report_of(error, command)
    try:
        fd, path = tempfile.mkstemp(prefix="tameshi-error-", suffix=".txt")
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return f"Please report it with these lines:\n{text}"
    return (
        f"Please report it with {path}: it holds version, command and traceback. "
        "Finished runs are kept."
    )


def report_of(error: Exception, command: Sequence[str]) -> str:
    """Return version, command and traceback of a fault."""
    facts = {
        "tameshi": tameshi_version(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "command": shlex.join(["tameshi", *command[1:]]),
    }
    lines = [f"{name}: {fact}\n" for name, fact in facts.items()]
    return "".join([*lines, "\n", *traceback.format_exception(error)])


def _print(message: str) -> None:
    Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)

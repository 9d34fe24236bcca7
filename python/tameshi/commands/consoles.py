"""Consoles of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import codecs
import io
import locale
import os
import sys
import unicodedata
from typing import Any, TextIO

from rich.console import Console

OUT = Console(highlight=False, markup=False)
ERR = Console(stderr=True, highlight=False, markup=False)
"""Consoles that print brackets as they are: titles and paths are no markup."""

_STAND_INS = str.maketrans(
    {
        "×": "x",
        "µ": "u",
        "μ": "u",
        "÷": "/",
        "±": "+/-",
        "·": ".",
        "–": "-",
        "—": "-",
        "→": "->",
        "≤": "<=",
        "≥": ">=",
        "≈": "~",
        "✓": "ok",
        "✗": "x",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "°": "deg",
    }
)
"""Replacements for characters that a terminal's encoding lacks."""


def accept_every_sign() -> None:
    """Let standard output and error print any text in any locale.

    Output to a file or another program is UTF-8 unless PYTHONIOENCODING is set. A terminal keeps
    its encoding; characters that it lacks are replaced.
    """
    codecs.register_error("tameshi.stand-in", _stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if "PYTHONIOENCODING" in os.environ:
                encoding = stream.encoding
            else:
                encoding = locale.getencoding() if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="tameshi.stand-in")


class _Unread(io.FileIO):
    """Output whose reader may leave early, as `head` does; the rest is dropped."""

    def write(self, data: Any) -> int:
        """Write the data, or send this and all later output to /dev/null."""
        try:
            return super().write(data)
        except BrokenPipeError:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self.fileno())
            return len(data)


def outlive_readers() -> None:
    """Let a command end its work with its own status if a reader of its output leaves early."""
    sys.stdout, sys.stderr = map(_outliving, (sys.stdout, sys.stderr))


def _outliving(stream: TextIO) -> TextIO:
    try:
        number = stream.fileno()
    except OSError:
        return stream
    stream.flush()
    file = io.BufferedWriter(_Unread(number, "wb", closefd=False))
    terminal = file.isatty() or stream is sys.stderr
    return io.TextIOWrapper(file, stream.encoding, stream.errors, line_buffering=terminal)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end].translate(_STAND_INS)
    plain = unicodedata.normalize("NFKD", signs)
    marked = (sign if sign.isascii() else "?" for sign in plain if not unicodedata.combining(sign))
    return "".join(marked), error.end

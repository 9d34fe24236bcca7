"""Consoles of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import codecs
import io
import locale
import os
import sys
import unicodedata

from rich.console import Console

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)

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


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end].translate(_STAND_INS)
    plain = unicodedata.normalize("NFKD", signs)
    marked = (sign if sign.isascii() else "?" for sign in plain if not unicodedata.combining(sign))
    return "".join(marked), error.end

"""Entry of the command line: `tameshi` and `python -m tameshi`."""

from __future__ import annotations

import codecs
import locale
import os
import sys
from pathlib import Path

from tameshi.commands import cli


def main() -> None:
    """Run the command line; in a locale that isn't UTF-8, start Python again in UTF-8 mode.

    Without that mode Python can't name files whose names are not in the locale's encoding.
    """
    if not sys.flags.utf8_mode and codecs.lookup(locale.getencoding()).name != "utf-8":
        # Python's own copy of the arguments may not encode back to the bytes that were given.
        given = Path("/proc/self/cmdline").read_bytes().split(b"\0")[1:-1]
        os.execv(sys.executable, [os.fsencode(sys.executable), b"-X", b"utf8", *given])
    cli.main()


if __name__ == "__main__":
    main()

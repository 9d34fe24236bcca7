"""Server process of a drive: `python -m tameshi.serve.server SPEC CONTROL_FD PARENT`.

It only serves. A process that also used its own drive could wait for itself forever.
"""

from __future__ import annotations

import signal
import sys

from tameshi.core import compiled
from tameshi.core.errors import TameshiError
from tameshi.serve.kernel import die_with_parent


def main() -> int:
    """Serve until the mount or the owner is gone; return the exit status."""
    spec, control, parent = sys.argv[1:]
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTOU):
        signal.signal(ignored, signal.SIG_IGN)
    die_with_parent(int(parent), signal.SIGKILL)
    try:
        compiled.serve_drive(spec, int(control))
    except TameshiError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

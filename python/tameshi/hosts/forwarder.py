"""Process that forwards packets: `python -m tameshi.hosts.forwarder SPEC CONTROL_FD PARENT`.

It holds the TUN devices, which end with it.
"""

from __future__ import annotations

import signal
import sys

from tameshi.core import compiled
from tameshi.core.errors import TameshiError
from tameshi.serve.kernel import die_with_parent


def main() -> int:
    """Forward packets until the owner is gone; return the exit status."""
    spec, control, parent = sys.argv[1:]
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTOU):
        signal.signal(ignored, signal.SIG_IGN)
    die_with_parent(int(parent), signal.SIGKILL)
    try:
        compiled.forward_packets(spec, int(control))
    except TameshiError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Process that forwards packets: `python -m tameshi.hosts.forwarder SPEC CONTROL_FD PARENT`.

It holds the TUN devices, which end with it.
"""

from __future__ import annotations

import sys

from tameshi.core import compiled
from tameshi.serve.owned import run_owned

if __name__ == "__main__":
    sys.exit(run_owned(compiled.forward_packets))

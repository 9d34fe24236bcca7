"""Process that cleans up after a killed session: `python -m tameshi.hosts.sweeper NAME`.

Its standard input ends with the session. A session that ended by itself has left nothing.
"""

from __future__ import annotations

import os
import sys

from tameshi.hosts.state import hosts_states
from tameshi.hosts.sweep import sweep_hosts
from tameshi.serve.owned import await_end


def main() -> None:
    """Wait for the end of the session, then remove what is left of it."""
    await_end()
    for state in hosts_states():
        if state.name == sys.argv[1]:
            sweep_hosts(state, spared=os.getpid())


if __name__ == "__main__":
    main()

"""Process that cleans up after a killed session: `python -m tameshi.serve.sweeper NAME`.

Its standard input ends with the session. A session that ended by itself has left nothing.
"""

from __future__ import annotations

import os
import sys

from tameshi.serve.owned import await_end
from tameshi.serve.state import states
from tameshi.serve.sweep import sweep


def main() -> None:
    """Wait for the end of the session, then remove what is left of it."""
    await_end()
    for state in states():
        if state.name == sys.argv[1]:
            sweep(state, spared=os.getpid())


if __name__ == "__main__":
    main()

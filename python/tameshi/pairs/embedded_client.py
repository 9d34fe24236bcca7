"""Clients of an embedded database in a process of their own, which has the engine:
`python -m tameshi.pairs.embedded_client SPEC`.

SPEC is a file with the load, the folder of its record, and its begin on the monotonic clock.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path

from tameshi.core.compiled import Oltp
from tameshi.core.errors import RunFailed

POLL_SECONDS = 0.1


def main() -> int:
    """Run the clients until SIGTERM; return the exit status."""
    spec = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    oltp = Oltp(spec["load"])
    failures: list[RunFailed] = []

    def execute() -> None:
        try:
            oltp.execute(Path(spec["record"]), spec["t0_ns"])
        except RunFailed as error:
            failures.append(error)

    thread = threading.Thread(target=execute)
    thread.start()
    while thread.is_alive():
        if signal.sigtimedwait({signal.SIGTERM}, POLL_SECONDS):
            oltp.stop()
            thread.join()
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

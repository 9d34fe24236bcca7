"""Server process of a drive: `python -m tameshi.serve.server SPEC CONTROL_FD PARENT`.

It only serves. A process that also used its own drive could wait for itself forever.
"""

from __future__ import annotations

import sys

from tameshi.core import compiled
from tameshi.serve.owned import run_owned

if __name__ == "__main__":
    sys.exit(run_owned(compiled.serve_drive))

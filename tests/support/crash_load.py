"""Load in a process of its own, to be killed: `crash_load.py SPEC RECORD`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tameshi.core.compiled import Oltp

Oltp(json.loads(Path(sys.argv[1]).read_text())).execute(Path(sys.argv[2]), time.monotonic_ns())

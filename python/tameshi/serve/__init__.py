"""Served drives: a simulated drive as a real block device, by hand.

`Session` serves one drive or stack of drives: a server process with the bytes and the model, a loop
device, a file system, and a control socket. `sweep_all` removes what a killed session left.
Everything is under `/run/tameshi/NAME`; no other file or device is written.
"""

from tameshi.serve.control import ask_session, sessions
from tameshi.serve.drive import ServedDrive
from tameshi.serve.plans import FILE_SYSTEMS, ServePlan
from tameshi.serve.session import Session
from tameshi.serve.show import (
    answer_text,
    drive_text,
    floor_warnings,
    shortfalls,
    status_line,
)
from tameshi.serve.sweep import left_drives, sweep_all

__all__ = [
    "FILE_SYSTEMS",
    "ServePlan",
    "ServedDrive",
    "Session",
    "answer_text",
    "ask_session",
    "drive_text",
    "floor_warnings",
    "left_drives",
    "sessions",
    "shortfalls",
    "status_line",
    "sweep_all",
]

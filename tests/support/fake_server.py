"""Fake database server for rare events of real ones: `fake_server.py DATA SOCKET [--late=SECONDS]
[--die=WORDS] [--deaf] [--child]`.

It answers each line with one line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

data, path = Path(sys.argv[1]), sys.argv[2]
options = dict(option.lstrip("-").partition("=")[::2] for option in sys.argv[3:])
rows = data / "rows"


def answer(statement: str) -> list[list[object]]:
    verb, _, value = statement.partition(" ")
    match verb:
        case "SELECT":
            return [[1]]
        case "PUT":
            with rows.open("a") as file:
                file.write(value + "\n")
            return []
        case _:
            return [[line] for line in rows.read_text().splitlines()]


def serve(connection: socket.socket) -> None:
    with connection, connection.makefile("rw") as lines:
        for line in lines:
            lines.write(json.dumps(answer(line.strip())) + "\n")
            lines.flush()


print("fake server starts", flush=True)
if "die" in options:
    sys.exit(f"cannot go on: {options['die']}")
if "deaf" in options:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
if "child" in options:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
time.sleep(float(options.get("late", 0)))
if os.path.exists(path):
    os.unlink(path)
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(path)
    listening.listen()
    while True:
        threading.Thread(target=serve, args=listening.accept()[:1], daemon=True).start()

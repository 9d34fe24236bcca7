"""A client of SQLite in a process of its own: `ledger_client.py FILE CLIENT FIRST PRAGMA=VALUE …`.

It says `s N` before it commits N and `a N` after."""

from __future__ import annotations

import os
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
for pragma in sys.argv[4:]:
    connection.execute(f"PRAGMA {pragma}")
client, number = int(sys.argv[2]), int(sys.argv[3])
while True:
    os.write(1, f"s {number}\n".encode())
    connection.execute("INSERT INTO ledger VALUES (?, ?)", (client, number))
    os.write(1, f"a {number}\n".encode())
    number += 1

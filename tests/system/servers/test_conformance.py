"""Conformance of every product: one class of tests, the fake server first."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from making import ALL, SERVED, SUPPORT, Maker

from tameshi.core.errors import BadInput
from tameshi.servers.private import PrivateServer
from tameshi.servers.product import ClientError

CREATE = "CREATE TABLE kept (word varchar(20))"
DIALECT = {
    "fake": ("PUT {}", "ROWS"),
    "mariadb": ("INSERT INTO tameshi.kept VALUES ('{}')", "SELECT word FROM tameshi.kept"),
    "postgresql": ("INSERT INTO kept VALUES ('{}')", "SELECT word FROM kept"),
    "sqlite": ("INSERT INTO kept VALUES ('{}')", "SELECT word FROM kept"),
}


def create(server: PrivateServer) -> None:
    name = server.product.name
    if name != "fake":
        table = CREATE.replace("kept", "tameshi.kept") if name == "mariadb" else CREATE
        with server.client() as client:
            client.query(table)


def put(server: PrivateServer, word: str) -> None:
    with server.client() as client:
        client.query(DIALECT[server.product.name][0].format(word))


def words(server: PrivateServer) -> list[str]:
    with server.client() as client:
        return [str(row[0]) for row in client.query(DIALECT[server.product.name][1])]


def family(server: PrivateServer) -> list[psutil.Process]:
    assert server.pid
    process = psutil.Process(server.pid)
    return [process, *process.children(recursive=True)]


def gone(processes: list[psutil.Process]) -> bool:
    """Return whether all have ended; a zombie waits for its adoptive parent."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                return False
    return True


@pytest.mark.parametrize("name", ALL)
def test_committed_data_survives_stop_and_kill(make: Maker, name: str) -> None:
    server = make.server(name)
    server.start()
    create(server)
    put(server, "stopped")
    server.stop()
    server.start()
    put(server, "killed")
    server.kill()
    server.start()
    assert words(server) == ["stopped", "killed"]
    server.stop()
    assert server.pid is None


@pytest.mark.parametrize("name", SERVED)
def test_private_server_is_isolated(make: Maker, name: str) -> None:
    server = make.server(name)
    with server:
        server.start()
        socket = server.address.socket
        assert socket and socket.exists() and socket.is_relative_to(server.home.folder)
        assert server.home.run.stat().st_mode & 0o777 == 0o700
        for process in family(server)[:2]:  # others may start and end
            listening = [c for c in process.net_connections("inet") if c.status == "LISTEN"]
            assert listening == []
            if os.geteuid() == 0 and server.product.account:
                assert process.username() == server.product.account
                assert pwd.getpwnam(server.product.account).pw_uid != 0
        with pytest.raises(BadInput, match="has a server in this data directory"):
            make.bare(name)
    assert not (server.home.data / "mysql.sock").exists()


@pytest.mark.parametrize("name", SERVED)
def test_a_kill_leaves_no_process_and_ends_connections(make: Maker, name: str) -> None:
    server = make.server(name, **({"options": {"child": "yes"}} if name == "fake" else {}))
    server.start()
    processes = family(server)
    with server.client() as client:
        assert len(client.query("SELECT 1")) == 1
        server.kill()
        with pytest.raises(ClientError):
            client.query("SELECT 1")
    assert gone(processes)
    assert server.pid is None


def segments_made_by(pid: int) -> list[str]:
    """Return the shared memory segments of System V by creator; `cpid` is the fifth column."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return [line for line in lines if line.split()[4] == str(pid)]


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("how", ["killed", "forgotten"])
def test_a_killed_server_leaves_nothing_outside_its_directory(
    make: Maker, name: str, how: str
) -> None:
    server = make.server(name)
    server.start()
    assert server.pid
    pid, maps = server.pid, []
    for process in family(server):
        with suppress(FileNotFoundError, ProcessLookupError):  # others may start and end
            maps.append(Path(f"/proc/{process.pid}/maps").read_text())
    assert not [line for text in maps for line in text.splitlines() if "/dev/shm/" in line]
    assert (name == "postgresql") == bool(segments_made_by(pid))
    if how == "killed":
        server.kill()
    else:  # as by the kernel after Tameshi's end: emptying the directory cleans up
        for process in family(server):
            process.kill()
        assert server.wait_gone(30)
        server.directory.empty()
    assert segments_made_by(pid) == []


@pytest.mark.parametrize("name", SERVED)
def test_server_log_stays_with_run(make: Maker, name: str, ground: Path) -> None:
    server = make.server(name)
    server.start()
    server.stop()
    log = (ground / "run" / "server.log").read_text()
    assert {"fake": "fake server starts", "mariadb": "ready for connections"}.get(
        name, "ready to accept connections"
    ) in log
    assert server.last_words()


@pytest.mark.parametrize("name", SERVED)
def test_exit_with_error_leaves_no_process(make: Maker, name: str) -> None:
    server = make.server(name)
    processes: list[psutil.Process] = []
    with pytest.raises(KeyboardInterrupt), server:
        server.start()
        processes = family(server)
        raise KeyboardInterrupt
    assert processes and gone(processes)


@pytest.mark.parametrize("name", ALL)
def test_address_for_load_holds_no_password(make: Maker, name: str) -> None:
    fields = make.bare(name).address.as_json()
    assert json.loads(json.dumps(fields)) == fields
    assert fields["product"] == name
    assert "file" in fields if name == "sqlite" else "socket" in fields
    assert not any("password" in key or "secret" in key for key in fields)


STARTER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from contextlib import ExitStack
from making import Maker
with ExitStack() as stack:
    make = Maker(Path({made!r}), Path({ground!r}), stack, {{{name!r}: Path({template!r})}})
    server = make.server({name!r})
    server.start()
    print(server.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_server_ends_with_tameshi(make: Maker, name: str, how: signal.Signals) -> None:
    template = make._template(name)
    script = STARTER.format(
        tests=str(SUPPORT),
        made=str(make.made),
        ground=str(make.ground),
        name=name,
        template=str(template),
    )
    starter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    process = psutil.Process(int(starter.stdout.readline()))
    processes = [process, *process.children(recursive=True)]
    starter.send_signal(how)
    starter.wait()
    deadline = time.monotonic() + 30
    while not gone(processes) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert gone(processes)
    make.bare(name)

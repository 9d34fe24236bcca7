"""Drives served by NBD: other clients of the protocol, power cuts, refused addresses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from command import tameshi_process
from served import SMALL, left, only_served_drives, session, wait_for

MIB = 1 << 20


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def tool(*line: str | Path, status: int = 0) -> str:
    """Return the output of a program that ends with this status."""
    done = subprocess.run(line, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


def ctl(process: subprocess.Popen[str], *words: str) -> str:
    """Send the session of a process a message; return the answer."""
    name = next(Path("/run/tameshi").glob(f"*-{process.pid}")).name
    done = tameshi_process("serve", "ctl", *words, "--drive", name)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def io(uri: str, *commands: str, status: int = 0) -> str:
    """Run commands of qemu-io on a drive."""
    words = [word for command in commands for word in ("-c", command)]
    return tool("qemu-io", "-f", "raw", "-t", "none", *words, uri, status=status)


@pytest.mark.parametrize("family", ["unix", "tcp"])
def test_image_survives_a_round_trip(family: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = tmp_path / "nbd"
    address, uri = {
        "unix": (f"unix:{path}", f"nbd+unix:///?socket={path}"),
        "tcp": (f"127.0.0.1:{port}", f"nbd://127.0.0.1:{port}"),
    }[family]
    image, back = tmp_path / "image", tmp_path / "back"
    image.write_bytes(os.urandom(40 * MIB) + bytes(24 * MIB) + os.urandom(3 * MIB + 512))
    with session("nvme-tlc-1tb-consumer", "--nbd", address) as process:
        info = json.loads(tool("nbdinfo", "--json", uri))["exports"][0]
        assert info["can_fua"] and info["can_trim"] and info["can_multi_conn"]
        assert (info["block_size_minimum"], info["block_size_maximum"]) == (512, 2 * MIB)
        assert info["export-size"] > 1000 * MIB and not info["is_rotational"]
        assert (
            json.loads(tool("nbdinfo", "--json", "--list", uri))["exports"][0]["export-name"] == ""
        )
        tool("nbdcopy", "--flush", image, uri)
        tool("nbdcopy", "--connections=1", uri, back)
        data = image.read_bytes()
        assert back.read_bytes()[: len(data)] == data
        tool("qemu-img", "compare", "-f", "raw", "-F", "raw", image, uri)
        figures = json.loads(ctl(process, "status"))
        assert figures["door"] == "nbd" and figures["operations"]["flush"]["operations"] > 0
        assert figures["used_bytes"] < 64 * MIB
    assert left() == [] and not path.exists()


def test_commands_do_what_they_say(tmp_path: Path) -> None:
    uri = f"nbd+unix:///?socket={tmp_path}/nbd"
    with session(
        "sata-ssd-480gb", "--without-capacitor", "--nbd", f"unix:{tmp_path}/nbd"
    ) as process:
        io(uri, "write -P 7 0 8M", "flush", "read -P 7 0 8M", "write -f -P 8 0 4k")
        io(uri, "write -z 1M 1M", "read -P 0 1M 1M", "write -z -u 2M 1M", "discard 4M 1M")
        io(uri, "read -P 8 0 4k", "read -P 7 4k 512", "read -P 0 2M 1M", "read -P 0 4M 1M")
        figures = json.loads(ctl(process, "status"))["operations"]
        # A flush for `flush`, one for the write with FUA, and one as each client leaves.
        assert figures["flush"]["operations"] >= 2 and figures["trim"]["operations"] >= 2
        for beyond in ("read 100G 4k", "write 100G 4k"):
            io(uri, beyond, status=1)
    assert left() == []


def test_disk_is_rotational_and_takes_zeros_without_trims(tmp_path: Path) -> None:
    uri = f"nbd+unix:///?socket={tmp_path}/nbd"
    with session("sas-15k-146gb", "--nbd", f"unix:{tmp_path}/nbd"):
        info = json.loads(tool("nbdinfo", "--json", uri))["exports"][0]
        assert info["is_rotational"] and not info["can_trim"] and info["can_zero"]
        io(uri, "write -P 7 0 3M", "write -z -u 0 3M", "read -P 0 0 3M")
    assert left() == []


STEPS = (
    ("write -P 7 0 1M\n", "write", 4),
    ("flush\n", "flush", 1),
    ("write -P 9 1M 1M\n", "write", 8),
)
"""Commands of qemu-io, each with the operations that the drive has then done."""


def _has_done(process: subprocess.Popen[str], kind: str, count: int) -> bool:
    done = json.loads(ctl(process, "status"))["operations"][kind]["operations"]
    return int(done) >= count


def test_power_cut_closes_connections_and_the_drive_returns(tmp_path: Path) -> None:
    path = tmp_path / "nbd"
    uri = f"nbd+unix:///?socket={path}"
    with session("nvme-tlc-1tb-consumer", "--nbd", f"unix:{path}") as process:
        line = ["qemu-io", "-f", "raw", "-t", "none", uri]
        with subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as user:
            assert user.stdin and user.stdout
            for command, kind, count in STEPS:
                user.stdin.write(command)
                user.stdin.flush()
                wait_for(partial(_has_done, process, kind, count))
            text = ctl(process, "cut")
            assert "acknowledged writes not flushed are lost" in text
            answer, _ = user.communicate("write -P 9 2M 4k\nread 0 4k\nquit\n", timeout=60)
            assert "rror" in answer
        io(uri, "read -P 7 0 1M", "write -P 5 0 4k")
        ctl(process, "cut")
        io(uri, "read -P 7 4k 4k")
    assert left() == [] and not path.exists()


def test_client_that_vanishes_or_talks_nonsense_disturbs_none(tmp_path: Path) -> None:
    path = tmp_path / "nbd"
    uri = f"nbd+unix:///?socket={path}"
    with session("null", "--nbd", f"unix:{path}"):
        clients = [socket.socket(socket.AF_UNIX) for _ in range(80)]
        for number, client in enumerate(clients):
            client.connect(str(path))
            client.sendall(os.urandom(4096) if number % 2 else b"")
            if number % 3:
                client.close()
        for client in clients:
            client.close()
        io(uri, "write -P 7 0 8M", "read -P 7 0 8M")
    assert left() == []


def test_killed_session_leaves_no_socket(tmp_path: Path) -> None:
    path = tmp_path / "nbd"
    with session("null", "--nbd", f"unix:{path}") as process:
        process.send_signal(signal.SIGKILL)
        wait_for(lambda: left() == [] and not path.exists())


def test_bad_addresses_are_refused_before_anything_is_served(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text("mine")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        cases = {
            f"unix:{foreign}": "there is a file of this name, which Tameshi does not overwrite",
            f"unix:{tmp_path}/no/where": "there is no directory",
            "unix:/" + "x" * 120: "at most 107 bytes",
            f"127.0.0.1:{port}": "nothing can listen here: Address already in use",
            "0.0.0.0:10809": "all interfaces at once are refused",
            "[::]:10809": "all interfaces at once are refused",
            "example.org:10809": "name a host by its number",
            "127.0.0.1": "this is no address for NBD",
            "192.0.2.1:10809": "nothing can listen here",
        }
        for address, message in cases.items():
            done = tameshi_process("serve", "null", *SMALL, "--nbd", address, "--", "true")
            assert done.returncode == 2 and message in done.stderr, (address, done.stderr)
    assert foreign.read_text() == "mine" and left() == []

"""Hosts as network namespaces: share of processors, isolation, clean-up after SIGKILL."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import arguments, tameshi_process
from served import Session, left, only_hosts, running, until_ready, wait_for

from tameshi.core.errors import BadInput
from tameshi.hosts import HostPlan, Hosts, HostsPlan, find_host
from tameshi.hosts.processors import share_of

SPIN = "import time\nb = time.process_time(); t = time.monotonic()\n"
SPIN += "while time.monotonic() - t < 0.3: pass\n"
SPIN += "print((time.process_time() - b) / (time.monotonic() - t))"
LISTEN = "import socket, sys, time\ns = socket.create_server(('0.0.0.0', 7001))\n"
LISTEN += "print('listening', flush=True)\nc, _ = s.accept()\nc.sendall(c.recv(64).upper())"

PRIVATE = """
import os, subprocess, sys, time
from contextlib import ExitStack
from tameshi.commands.serve_target import State, find_target
from tameshi.hosts import HostPlan, Hosts, HostsPlan
from tameshi.serve.drive import ServedDrive
from tameshi.serve.kernel import enter_private_namespace
from tameshi.serve.plans import ServePlan

enter_private_namespace()
of = find_target("null", 1 << 30, 1 << 30, State(None, ()), capacitor=True)
plan = ServePlan(of.name, of.description, of.node, 1 << 30, 1 << 30, 1 << 28, file_system=None)
name = f"test-{os.getpid()}"
with ExitStack() as stack:
    for number in range(int(sys.argv[1])):
        stack.enter_context(ServedDrive(plan, f"{name}-{number}", private=True))
    hosts = HostsPlan((HostPlan("left", "10.77.2.1"),), (), private=True)
    hosts = stack.enter_context(Hosts(hosts, f"{name}-hosts"))
    subprocess.Popen(hosts.host("left").running(["sleep", "987"]))
    print(name, flush=True)
    time.sleep(120)
"""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any host."""
    with only_hosts():
        yield
        assert left() == []


def up(*words: str) -> Session:
    """Make hosts by hand, until they are ready; end what is left of the session afterwards."""
    return until_ready(arguments("hosts", "up", *words), "a program in a host")


@contextmanager
def private_session(drives: int) -> Iterator[subprocess.Popen[str]]:
    """Make hosts next to drives in a mount namespace of their own, as an emulated run does."""
    words = [sys.executable, "-c", PRIVATE, str(drives)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline().startswith("test-")
        try:
            yield process
        finally:
            process.kill()


def helpers(session: subprocess.Popen[str]) -> list[int]:
    """Return the processes that a session has started."""
    children = Path(f"/proc/{session.pid}/task").glob("*/children")
    return [int(pid) for task in children for pid in task.read_text().split()]


def machine() -> Sequence[str]:
    """Return devices, routes and addresses of this machine outside of all hosts."""
    tables = ("dev", "route", "fib_trie", "if_inet6")
    devices = Path("/proc/self/net/dev").read_text().splitlines()
    names = [line.partition(":")[0].strip() for line in devices[2:]]
    return [*names, *(Path("/proc/self/net", table).read_text() for table in tables[1:])]


def test_program_in_a_host_is_reached_from_outside() -> None:
    before = machine()
    plan = HostsPlan((HostPlan("left", "10.77.2.1"),), ())
    with Hosts(plan, "test-one") as hosts:
        host = hosts.host("left")
        words = host.running([sys.executable, "-c", LISTEN])
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout and process.stdout.readline() == "listening\n"
            assert host.processes() == [process.pid]
            with host.connect(7001) as client:
                client.sendall(b"from outside")
                assert client.recv(64) == b"FROM OUTSIDE"
        assert machine() == before, "nothing outside of the host has changed"
    assert machine() == before


def test_host_has_its_share_of_the_processors() -> None:
    first = min(os.sched_getaffinity(0))
    plan = HostPlan("left", "10.77.2.1", (first,), 0.5)
    with Hosts(HostsPlan((plan,), ()), "test-share") as hosts:
        (state,) = hosts.state.hosts
        if state.missing:
            pytest.skip("this machine's control groups keep no quota")
        words = "import os; print(sorted(os.sched_getaffinity(0)))\n" + SPIN
        line = hosts.host("left").running([sys.executable, "-c", words])
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        processors, share = done.stdout.splitlines()
        assert processors == f"[{first}]"
        assert float(share) == pytest.approx(0.5, abs=0.12)


def test_machine_without_groups_keeps_the_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tameshi.hosts.processors.mounts", list)
    first = min(os.sched_getaffinity(0))
    share = share_of(HostPlan("left", "10.77.2.1", (first,), 0.5), "test")
    assert (share.means, share.missing, share.groups) == ("affinity", ("quota",), ())
    words = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
    done = subprocess.run(share.running(words), capture_output=True, text=True, check=True)
    assert done.stdout == f"[{first}]\n"


def test_quota_that_a_group_must_keep_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tameshi.hosts.processors.mounts", list)
    plan = HostsPlan((HostPlan("left", "10.77.2.1", quota=0.5),), (), keeps_shares=True)
    with pytest.raises(BadInput, match="cannot keep a host's processor time"):
        Hosts(plan, "test-shares").__enter__()


def test_hosts_by_hand_are_entered_cut_and_shown() -> None:
    with up("left,right", "--link", "tcp-1gbe", "--quota", "right=50%"):
        shown = tameshi_process("hosts").stdout
        assert "left 10.77.0.1" in shown and "round trip 200 µs" in shown and "measured" in shown
        inside = tameshi_process("hosts", "enter", "left", "--", "cat", "/proc/self/net/route")
        assert "to-right" in inside.stdout, inside.stderr
        cut = tameshi_process("hosts", "link", "left", "right", "cut", "--one-way")
        assert cut.stdout.startswith("left to right: cut; right to left: 100 µs"), cut.stderr
        unknown = tameshi_process("hosts", "link", "left", "middle", "cut")
        assert unknown.returncode != 0 and "left and right" in unknown.stderr
        no_host = tameshi_process("hosts", "enter", "middle", "--", "true")
        assert no_host.returncode == 2 and "left or right" in no_host.stderr


def test_hosts_end_with_their_command() -> None:
    program = "import os, subprocess, sys\n"
    program += "words = [sys.executable, '-m', 'tameshi', 'hosts', 'enter', 'left', '--']\n"
    program += "subprocess.Popen([*words, 'sleep', '987'])\n"
    program += "done = subprocess.run([*words, 'sh', '-c', 'exit 3']); sys.exit(done.returncode)"
    done = tameshi_process("hosts", "up", "left,right", "--", sys.executable, "-c", program)
    assert done.returncode == 3, done.stderr
    wait_for(lambda: running("987") == [])


def test_program_that_enters_at_the_end_does_not_survive() -> None:
    enter = 'while [ -e "$0" ]; do "$@" 2> /dev/null & sleep 0.002; done'
    plan = HostsPlan((HostPlan("left", "10.77.2.1"),), ())
    with Hosts(plan, "test-late") as hosts:
        pin = hosts.state.pin("left")
        words = hosts.host("left").running(["sleep", "987"])
        shell = subprocess.Popen(["sh", "-c", enter, str(pin), *words])
        wait_for(lambda: len(hosts.host("left").processes()) > 5)
    shell.wait(30)
    wait_for(lambda: running("987") == [], seconds=5)


def test_killed_session_takes_programs_in_hosts_along() -> None:
    with up("left,right") as process:
        group = f"hosts-{process.pid}"
        inside = subprocess.Popen(find_host("left", group).running(["sleep", "987"]))
        wait_for(lambda: bool(running("987")))
        process.kill()
        process.wait()
        inside.wait(30)
        wait_for(lambda: left() == [])
        assert running("987") == []


def test_next_command_removes_hosts_that_are_left() -> None:
    with up("left,right", "--quota", "left=50%") as process:
        name = f"hosts-{process.pid}"
        inside = subprocess.Popen(find_host("left", name).running(["sleep", "987"]))
        wait_for(lambda: bool(running("987")))
        for pid in helpers(process):
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        time.sleep(0.2)
        shown = tameshi_process("hosts").stdout
        assert f"{name}: left by a killed session; remove it: tameshi hosts remove" in shown
        done = tameshi_process("hosts", "remove")
        assert done.stdout == f"removed the hosts that a killed session left: {name}\n"
        inside.wait(30)
    assert tameshi_process("hosts").stdout.startswith("no hosts")


def test_killed_private_session_leaves_no_drive_and_no_host() -> None:
    with private_session(drives=2) as process:
        process.kill()
        process.wait()
        wait_for(lambda: left() == [])
        wait_for(lambda: running("987") == [])


def test_private_hosts_that_are_left_are_removed_from_outside() -> None:
    with private_session(drives=0) as process:
        for pid in set(helpers(process)) & set(running("tameshi.hosts.sweeper")):
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        assert running("987") and left()
        assert tameshi_process("hosts", "remove").stdout.startswith("removed the hosts")
        wait_for(lambda: running("987") == [])


def test_end_of_the_forwarder_ends_the_session() -> None:
    with up("left,right") as process:
        (forwarder,) = set(helpers(process)) & set(running("tameshi.hosts.forwarder"))
        os.kill(forwarder, signal.SIGKILL)
        assert process.stderr
        said = process.stderr.read()
        assert process.wait(60) == 1
        assert "forwards packets between hosts was killed by signal 9" in said


def test_addresses_of_two_groups_do_not_meet() -> None:
    plan = HostsPlan((HostPlan("left", "10.77.2.1"),), ())
    with Hosts(plan, "test-a") as first, Hosts(plan, "test-b") as second:
        listener = first.host("left").within(lambda: socket.create_server(("10.77.2.1", 7002)))
        with listener, pytest.raises(ConnectionRefusedError):
            second.host("left").connect(7002)

"""`dask ssh` between two network namespaces with a server of SSH each, as in docs/cluster.md."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from command import SMALL, arguments, tameshi_process
from sealing import folder_content
from served import left, only_hosts, wait_for

from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
HAS_PARAMIKO = importlib.util.find_spec("paramiko") is not None
SSH_PORT, PORT = 2222, 8786
LEFT, RIGHT = "10.77.3.1", "10.77.3.2"
CONFIG = """
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
SetEnv DASK_TEMPORARY_DIRECTORY={folder}
"""

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(SSHD is None, reason="openssh-server has sshd"),
    pytest.mark.skipif(not HAS_PARAMIKO, reason="dask ssh needs paramiko"),
]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with only_hosts():
        yield
        assert left() == []


@contextmanager
def ssh_servers(folder: Path) -> Iterator[Hosts]:
    """Make two hosts with a link, and a server of SSH in each."""
    for name in ("host_key", "key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    os.makedirs("/run/sshd", exist_ok=True)
    places = {"left": LEFT, "right": RIGHT}
    plan = HostsPlan(
        tuple(HostPlan(name, address) for name, address in places.items()),
        (LinkPlan(("left", "right"), 100_000, 1_250_000_000),),
    )
    assert SSHD
    with Hosts(plan, "test-ssh") as hosts, ExitStack() as stack:
        for name, address in places.items():
            config = folder / f"{name}.conf"
            config.write_text(CONFIG.format(port=SSH_PORT, address=address, folder=folder))
            words = hosts.host(name).running([SSHD, "-D", "-e", "-f", str(config)])
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            server = stack.enter_context(subprocess.Popen(words, stdout=log, stderr=log))
            stack.callback(server.terminate)
        for name in places:
            wait_for(lambda name=name: is_listening(hosts, name, SSH_PORT))  # type: ignore[misc]
        yield hosts


def is_listening(hosts: Hosts, name: str, port: int) -> bool:
    try:
        hosts.host(name).connect(port, seconds=1).close()
    except OSError:
        return False
    return True


def test_cluster_of_dask_ssh_gives_equal_results(
    study: Callable[..., Path], tmp_path: Path
) -> None:
    path, here, out = study(SMALL), tmp_path / "here", tmp_path / "out"
    done = tameshi_process("run", path, "--out", here)
    assert done.returncode == 0, done.stderr
    with ssh_servers(tmp_path) as hosts, (tmp_path / "dask.log").open("wb") as log:
        inside = hosts.host("left")
        words = [sys.executable, "-m", "distributed.cli.dask_ssh", "--nworkers", "1"]
        words += ["--nthreads", "1", "--ssh-port", str(SSH_PORT), "--remote-python"]
        words += [sys.executable, "--ssh-private-key", str(tmp_path / "key"), LEFT, RIGHT]
        dask = subprocess.Popen(inside.running(words), stdout=log, stderr=log)
        try:
            wait_for(lambda: is_listening(hosts, "left", PORT), seconds=60)
            wait_for(lambda: log_of(tmp_path).count("Registered to") == 2, seconds=60)
            line = arguments("run", path, "--out", out, "--cluster", f"tcp://{LEFT}:{PORT}")
            ran = subprocess.run(inside.running(line), capture_output=True, text=True, check=False)
        finally:
            dask.send_signal(signal.SIGINT)
            dask.wait(60)
        assert ran.returncode == 0, ran.stderr + log_of(tmp_path)
        assert "2 workers, 2 threads" in ran.stderr
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()
    assert folder_content(out / "runs") == folder_content(here / "runs")


def log_of(folder: Path) -> str:
    return (folder / "dask.log").read_text(errors="replace")

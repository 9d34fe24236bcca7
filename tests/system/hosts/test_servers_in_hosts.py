"""Private database server in a host, reached by its socket from outside."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest
from making import Maker
from served import left, only_hosts, wait_for

from tameshi.core.environment import PROC
from tameshi.hosts import HostPlan, Hosts, HostsPlan

FIRST = min(os.sched_getaffinity(0))
PLAN = HostsPlan(
    (HostPlan("db", "10.77.3.1", processors=(FIRST,)), HostPlan("app", "10.77.3.2")), ()
)


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_server_runs_in_its_host_and_is_reached(make: Maker, name: str) -> None:
    with only_hosts(), ExitStack() as stack:
        hosts = stack.enter_context(Hosts(PLAN, "test-server"))
        host = hosts.host("db")
        server = make.server(name, within=host.running)
        stack.callback(server.kill)
        server.start()
        assert server.pid is not None
        assert server.pid in host.processes() and hosts.host("app").processes() == []
        status = (PROC / str(server.pid) / "status").read_text("utf-8")
        assert f"Cpus_allowed_list:\t{FIRST}\n" in status
        with server.client() as client:
            assert str(client.query("SELECT 6 * 7")[0][0]) == "42"
        assert host.kill() > 0
        wait_for(lambda: server.pid is None)
        server.kill()
        server.start()
        server.stop()
        assert host.processes() == []
    assert left() == []

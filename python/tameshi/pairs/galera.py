"""Galera on two nodes and an arbiter: commits are certified by all nodes of the cluster."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from tameshi.core.errors import BadInput, RunFailed
from tameshi.hosts import Hosts
from tameshi.pairs.pair import Pair
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.serve.tools import require_tool
from tameshi.servers.installed import Program
from tameshi.servers.product import Rows

PROVIDERS = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so")
PACKAGE = "galera-4"
NODES = 3
ARBITER = "arbiter"
_SST = "rsync"
"""Transfer of the whole state of a node."""
_POSITION = re.compile(r"WSREP: Recovered position:? ([0-9a-f-]{36}:-?\d+)")
_UNDEFINED = "00000000-0000-0000-0000-000000000000:-1"
_SYNCED = "Synced"
_CHANGE_SECONDS, _POLL_SECONDS = 20.0, 0.05
_FLUSH = "innodb_flush_log_at_trx_commit"


class MariaDBGalera(Replication):
    """Galera: a commit is acknowledged once all nodes have received and certified it.

    The third node votes, and has the data without load. The nodes decide by themselves which of
    them serve: those of the majority.
    """

    name: ClassVar[str] = "mariadb-galera"
    product = "mariadb"
    port = 3306
    promises = True
    by_log = "incremental transfer"

    def options(self, number: int) -> dict[str, str]:
        """Return what each node needs; addresses come with the hosts."""
        return {
            "server_id": str(number),
            "wsrep_on": "ON",
            "wsrep_provider": provider() or PROVIDERS[0],
            "wsrep_cluster_name": "tameshi",
            "wsrep_sst_method": _SST,
            # The arbiter gives its state to a node that needs all: the others do not stop for it.
            "wsrep_sst_donor": f"{ARBITER},",
            "binlog_format": "ROW",
            "innodb_autoinc_lock_mode": "2",
            "wsrep_slave_threads": "4",
            "skip_name_resolve": "ON",
        }

    def require_tools(self, program: Program) -> None:
        """Require Galera's library, and the programs that transfer a state."""
        if not provider():
            raise BadInput(
                "Galera's library is not installed",
                where="replication",
                found=f"no {' or '.join(PROVIDERS)}",
                hint=f"On Debian: apt-get install {PACKAGE}",
            )
        for tool, package in (("rsync", "rsync"), ("lsof", "lsof"), ("wsrep_sst_rsync", "")):
            require_tool(tool, package or "mariadb-server")

    def prepare(self, primary: Side, standby: Side) -> None:
        """Do nothing: a node admits each that reaches its port."""

    def copy(self, primary: Side, standby: Side) -> None:
        """Start a node on an empty directory: the cluster transfers its state."""
        standby.server.kill()
        if not standby.server.directory.is_empty():
            standby.server.directory.empty()
        standby.server.start()

    def attach(self, primary: Side, standby: Side) -> None:
        """Do nothing: a node joins when it starts."""

    def is_attached(self, primary: Side, standby: Side) -> bool:
        """Return whether all nodes are in the cluster, and the standby has its state."""
        size = int(status(primary, "wsrep_cluster_size"))
        return size == NODES and status(standby, "wsrep_local_state_comment") == _SYNCED

    def problem(self, standby: Side) -> str:
        """Return the end of the node."""
        return standby.server.ended() or ""

    def arm(self, primary: Side) -> None:
        """Do nothing: commits always wait for the cluster."""

    def position(self, primary: Side) -> int:
        """Return the number of the last transaction committed."""
        return int(status(primary, "wsrep_last_committed"))

    def applied(self, standby: Side) -> int:
        """Return the number of the last transaction applied."""
        return int(status(standby, "wsrep_last_committed"))

    def stop_receiving(self, standby: Side) -> None:
        """Do nothing: a fenced node sends nothing."""

    def has_caught_up(self, standby: Side) -> bool:
        """Return whether the node serves in the majority, and no transaction waits."""
        return (
            status(standby, "wsrep_ready") == "ON"
            and status(standby, "wsrep_cluster_status") == "Primary"
            and int(status(standby, "wsrep_local_recv_queue")) == 0
        )

    def promote(self, standby: Side) -> None:
        """Wait until the cluster agrees without the old primary, and all is applied."""
        ask(standby, "SET SESSION wsrep_sync_wait = 1", "SELECT 1")

    def rejoin(self, primary: Side, failed: Side) -> None:
        """Start a node at the position that its data have; the cluster sends what it lacks, or
        all.

        Its log is flushed once a second until it is ready: with a flush per commit, a node on a
        slow drive applies no faster than clients write, and never catches up.
        """
        usual = failed.server.options
        position = recovered_position(failed)
        failed.server.options = {**usual, _FLUSH: "0"}
        if position != _UNDEFINED:
            failed.server.options["wsrep_start_position"] = position
        try:
            failed.server.start()
        finally:
            failed.server.options = usual


class GaleraPair(Pair):
    """Two nodes that serve in turn, and an arbiter in a third host."""

    def __init__(
        self,
        hosts: Hosts,
        sides: tuple[Side, Side],
        replication: MariaDBGalera,
        service: Service,
        arbiter: Side,
    ) -> None:
        super().__init__(hosts, sides, replication, service)
        self._arbiter = arbiter

    def set_up(self) -> None:
        """Let the arbiter join the running primary, then the standby."""
        self.replication.copy(self.primary, self._arbiter)
        super().set_up()

    def wait_ready(self) -> None:
        """Wait until the standby is a synced node, and let it flush its log as it is set to."""
        super().wait_ready()
        usual = self.standby.server.options.get(_FLUSH, "1")
        ask(self.standby, f"SET GLOBAL {_FLUSH} = {usual}")

    def link_bytes(self) -> int:
        """Return the bytes of data that have crossed all links so far."""
        links = self._hosts.status()["links"]
        return sum(int(way["bytes"]) for link in links for way in link["ways"])

    def cut_link(self, *, one_way: bool = False) -> None:
        """Cut the primary off from both other nodes; `one_way`: they hear nothing of it."""
        self._change("cut", self._links_of_primary(), one_way=one_way)

    def slow_link(self, factor: float) -> None:
        """Slow the links of the primary to both other nodes."""
        self._change(f"slow {factor:g}", self._links_of_primary(), one_way=False)

    def heal_link(self) -> None:
        """Let all links carry again."""
        names = [side.name for side in (self.primary, self.standby, self._arbiter)]
        self._change("heal", itertools.combinations(names, 2), one_way=False)

    def _links_of_primary(self) -> list[tuple[str, str]]:
        return [(self.primary.name, other.name) for other in (self.standby, self._arbiter)]

    def _change(self, change: str, pairs: Iterable[tuple[str, str]], *, one_way: bool) -> None:
        links = self._hosts.links
        assert links
        for here, there in pairs:
            links.change(links.direction(here, there, one_way=one_way), change)


def provider() -> str | None:
    """Return the path of Galera's library; None if it is not installed."""
    return next((path for path in PROVIDERS if Path(path).exists()), None)


def status(side: Side, name: str) -> str:
    """Return a status variable of a node."""
    ((_, value),) = ask(side, f"SHOW GLOBAL STATUS LIKE '{name}'")
    return str(value)


def ask(side: Side, *statements: str) -> Rows:
    """Return the rows of the last statement; ask again for a while if a node that runs has closed
    the connection, as it does when its cluster changes."""
    end = time.monotonic() + _CHANGE_SECONDS
    while True:
        try:
            return side.query(*statements)
        except RunFailed:
            if not side.is_up or time.monotonic() > end:
                raise
        time.sleep(_POLL_SECONDS)


def addresses_of(address: str, name: str, cluster: Iterable[str]) -> dict[str, str]:
    """Return the options of a node at an address; an empty cluster is founded by it."""
    return {
        "wsrep_node_name": name,
        "wsrep_node_address": address,
        "wsrep_cluster_address": f"gcomm://{','.join(cluster)}",
    }


def recovered_position(failed: Side) -> str:
    """Return the last transaction in the data of a killed node, as its server recovers it."""
    log = failed.server.home.run / "recovery.log"
    failed.run_tools([*failed.server.command(), "--wsrep-recover", f"--log-error={log}"])
    found = _POSITION.findall(log.read_text("utf-8", errors="replace"))
    return found[-1] if found else _UNDEFINED

"""All replications by their names."""

from __future__ import annotations

from tameshi.core.errors import BadInput
from tameshi.pairs.mariadb import MariaDBAsynchronous, MariaDBSemiSynchronous
from tameshi.pairs.mirror import (
    MariaDBAsynchronousMirror,
    MariaDBBlockMirror,
    MariaDBFarMemoryMirror,
    PostgreSQLAsynchronousMirror,
    PostgreSQLBlockMirror,
    PostgreSQLFarMemoryMirror,
)
from tameshi.pairs.postgresql import (
    PostgreSQLOn,
    PostgreSQLRemoteApply,
    PostgreSQLRemoteWrite,
    PostgreSQLStreaming,
)
from tameshi.pairs.replication import Replication

REPLICATIONS: dict[str, Replication] = {
    replication.name: replication
    for replication in (
        MariaDBAsynchronous(),
        MariaDBSemiSynchronous(),
        PostgreSQLStreaming(),
        PostgreSQLRemoteWrite(),
        PostgreSQLOn(),
        PostgreSQLRemoteApply(),
        MariaDBBlockMirror(),
        MariaDBFarMemoryMirror(),
        MariaDBAsynchronousMirror(),
        PostgreSQLBlockMirror(),
        PostgreSQLFarMemoryMirror(),
        PostgreSQLAsynchronousMirror(),
    )
}


def replication_named(name: str) -> Replication:
    """Return the replication of this name. Raise `BadInput`."""
    if name not in REPLICATIONS:
        message = "unknown replication"
        raise BadInput(message, where="replication", found=name, accepted=list(REPLICATIONS))
    return REPLICATIONS[name]

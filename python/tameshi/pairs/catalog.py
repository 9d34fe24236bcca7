"""All ways to run a database, by their names: replications, and servers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from tameshi.core.errors import BadInput
from tameshi.pairs.embedded import (
    SQLiteAsynchronousMirror,
    SQLiteBlockMirror,
    SQLiteFarMemoryMirror,
)
from tameshi.pairs.galera import MariaDBGalera
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
from tameshi.pairs.single import MariaDBSingle, PostgreSQLSingle, Single
from tameshi.pairs.way import Way

T = TypeVar("T")

REPLICATIONS: dict[str, Replication] = {
    replication.name: replication
    for replication in (
        MariaDBAsynchronous(),
        MariaDBSemiSynchronous(),
        MariaDBGalera(),
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
        SQLiteBlockMirror(),
        SQLiteFarMemoryMirror(),
        SQLiteAsynchronousMirror(),
    )
}


SINGLES: dict[str, Single] = {
    single.name: single for single in (MariaDBSingle(), PostgreSQLSingle())
}
WAYS: dict[str, Way] = {**SINGLES, **REPLICATIONS}


def replication_named(name: str) -> Replication:
    """Return the replication of this name. Raise `BadInput`."""
    return _named(name, REPLICATIONS)


def way_named(name: str) -> Way:
    """Return the replication or the server alone of this name. Raise `BadInput`."""
    return _named(name, WAYS)


def _named(name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        message = "unknown replication"
        raise BadInput(message, where="replication", found=name, accepted=list(known))
    return known[name]

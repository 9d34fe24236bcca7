"""Base of all ways to run a database: alone, or with a standby and a replication."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from tameshi.servers.installed import Program


class Way(ABC):
    """Way to run a database product on one host or several. Stateless."""

    name: ClassVar[str]
    """Name on the command line."""
    product: ClassVar[str]
    port: ClassVar[int]
    promises: ClassVar[bool] = False
    """True if no acknowledged commit is lost when the primary is."""
    standbys: ClassVar[int] = 0
    has_slow_link: ClassVar[bool] = False
    """True if its link can be slowed."""

    @abstractmethod
    def options(self, number: int) -> dict[str, str]:
        """Return options of the server of side `number`, from 1."""

    @abstractmethod
    def require_tools(self, program: Program) -> None:
        """Raise `BadInput` unless the programs that it needs are installed."""

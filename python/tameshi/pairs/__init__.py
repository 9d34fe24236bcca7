"""Pairs of the emulated world: two hosts with a link, a replication, and failover under load.

A pair has real servers, each in a host of its own, with files on a served drive or on a disk of
this machine. Clients connect to the pair's service, which leads to the primary. A ledger tells
whether a failover has lost anything acknowledged.
"""

from tameshi.pairs.catalog import REPLICATIONS, replication_named
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.pair import COPY, Failover, Pair, Return
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.pairs.trial import EVENTS, Costs, TrialPlan, TrialResult, run_trial

__all__ = [
    "COPY",
    "EVENTS",
    "REPLICATIONS",
    "Costs",
    "Failover",
    "LedgerLoad",
    "Pair",
    "Replication",
    "Return",
    "Service",
    "Side",
    "TrialPlan",
    "TrialResult",
    "replication_named",
    "run_trial",
]

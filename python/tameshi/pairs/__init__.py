"""Pairs of the emulated world: two hosts with a link, a replication, and failover under load.

A pair has real servers, each in a host of its own, with files on a served drive or on a disk of
this machine. Clients connect to the pair's service, which leads to the primary. A ledger tells
whether a failover has lost anything acknowledged.
"""

from tameshi.pairs.catalog import REPLICATIONS, SINGLES, WAYS, replication_named, way_named
from tameshi.pairs.deployment import Deployment, Failover, Return
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.pair import COPY, Pair
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.pairs.single import Single, SingleHost
from tameshi.pairs.trial import EVENTS, Costs, TrialPlan, TrialResult, check_event, run_trial
from tameshi.pairs.warm_up import Warmth, WarmUp
from tameshi.pairs.way import Way

__all__ = [
    "COPY",
    "EVENTS",
    "REPLICATIONS",
    "SINGLES",
    "WAYS",
    "Costs",
    "Deployment",
    "Failover",
    "LedgerLoad",
    "Pair",
    "Replication",
    "Return",
    "Service",
    "Side",
    "Single",
    "SingleHost",
    "TrialPlan",
    "TrialResult",
    "WarmUp",
    "Warmth",
    "Way",
    "check_event",
    "replication_named",
    "run_trial",
    "way_named",
]

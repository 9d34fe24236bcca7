"""`tameshi ask`: cheapest storage and buffer pool that meet a target, by simulation."""

from tameshi.ask.capacity import with_capacity
from tameshi.ask.catalog import Catalog, catalog_of
from tameshi.ask.command import Answered, Asking, ask, prepared
from tameshi.ask.question import (
    ENGINES,
    ROW_BYTES,
    WORKLOADS,
    Question,
    costs_of,
    pools_of,
    storages_of,
    varied_of,
)
from tameshi.ask.study_text import lasts_of, page_gets, ramp_of, scale_of

__all__ = [
    "ENGINES",
    "ROW_BYTES",
    "WORKLOADS",
    "Answered",
    "Asking",
    "Catalog",
    "Question",
    "ask",
    "catalog_of",
    "costs_of",
    "lasts_of",
    "page_gets",
    "pools_of",
    "prepared",
    "ramp_of",
    "scale_of",
    "storages_of",
    "varied_of",
    "with_capacity",
]

"""Sets of failover trials: ways, events and drives, repeated, resumed, and compared.

A set is a folder: its settings, a file per trial, results and report. It resumes where it ended.
"""

from tameshi.availability.conduct import Conducted, conduct, finish
from tameshi.availability.folder import REPORT, SetFolder
from tameshi.availability.summary import summarise
from tameshi.availability.trial_set import READY, Trial, TrialSet

__all__ = [
    "READY",
    "REPORT",
    "Conducted",
    "SetFolder",
    "Trial",
    "TrialSet",
    "conduct",
    "finish",
    "summarise",
]

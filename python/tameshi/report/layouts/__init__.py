"""Reports in the layout of the tools that scripts know: tpcc-mysql and sysbench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tameshi.core.errors import BadInput
from tameshi.record.store import SealedRun
from tameshi.report.layouts import sysbench, tpcc_mysql

FORMS: Mapping[str, Callable[[SealedRun], Sequence[str]]] = {
    "tpcc-mysql": tpcc_mysql.reports,
    "sysbench": sysbench.reports,
}
"""By the word of `--format`: the reports of a run, one for each of its phases."""


def as_form(form: str, runs: Sequence[SealedRun]) -> str:
    """Every report of the runs, one after the other. Raises `BadInput` where there is none."""
    usable = [run for run in runs if run.outcome["status"] != "failed"]
    found = [report for run in usable for report in FORMS[form](run)]
    if not found:
        program = "TPC-C" if form == "tpcc-mysql" else "a program on a database"
        raise BadInput(
            f"no run of this study has a phase of {program}", where="--format", found=form
        )
    return "\n".join(found)

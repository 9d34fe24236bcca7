"""Plans of studies whose records are packed: as many runs as these may be, their specs as text."""

from __future__ import annotations

from tameshi.core.spec_types import Plan, World
from tameshi.serve.nodes import described
from tameshi.study.file import StudyFile, plan_each
from tameshi.study.spec_texts import SpecTexts, with_texts


def plan_packed(study: StudyFile, *, quick: bool, exact: bool) -> Plan:
    """Plan the simulated runs of a study; raises `StudyError` at the place of an error."""
    specs = SpecTexts(described)
    outline = plan_each(study, World.simulated.value, specs.add, quick=quick, exact=exact)
    return with_texts(outline, specs)

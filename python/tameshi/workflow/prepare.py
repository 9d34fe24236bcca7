"""Planned and examined study, before anything is created."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tameshi.core import compiled
from tameshi.core.errors import BadInput, StudyError
from tameshi.core.spec_types import AxisSummary, Plan, RunSpec, Summary, Varies, World
from tameshi.run.packed_plans import plan_packed
from tameshi.run.preflight import Examined, examine
from tameshi.study.bindings import Bindings
from tameshi.study.file import StudyFile, plan, refusals

HOST = "host"
"""Axis of a study that several hosts measure."""


@dataclass(frozen=True)
class Prepared:
    """Study that this machine can run; nothing has been created yet.

    `rates`: rates of its search so far, by world.
    """

    study: StudyFile
    plans: Mapping[World, Plan]
    examined: Mapping[World, Examined]
    quick: bool = False
    exact: bool = False
    rates: Mapping[World, compiled.Rates] = field(default_factory=dict)
    bound_events: Collection[str] = ()
    chosen: str = ""
    """Sentence on slow motion that was chosen for this machine."""
    hosts: Mapping[str, Examined] = field(default_factory=dict)
    """Other hosts that measure; this machine then makes no runs of the study."""
    lines: Sequence[str] = ()
    """Lines on what these hosts will write."""

    @property
    def summary(self) -> Summary:
        """Return the study's summary, with the rates of every world as levels."""
        first, *others = (planned.study for planned in self.plans.values())
        axes = {axis.name: axis for axis in first.axes}
        for axis in (axis for other in others for axis in other.axes):
            known = axes.setdefault(axis.name, axis)
            levels = {*known.levels, *axis.levels}
            if levels != set(known.levels):
                axes[axis.name] = axis.model_copy(update={"levels": sorted(levels, key=float)})
        if self.hosts:
            hosts = list(self.hosts)
            axes[HOST] = AxisSummary(name=HOST, varies=Varies.across, levels=hosts)
        return first.model_copy(update={"axes": list(axes.values())})

    def slowed(self, bindings: Bindings, why: str) -> Prepared:
        """Return the study in the slow motion of `bindings`; `why`: a sentence on it."""
        examined = {world: examine(of, world, bindings) for world, of in self.plans.items()}
        return replace(self, examined=examined, chosen=why)

    def at_rates(self, rates: Mapping[World, compiled.Rates]) -> Prepared:
        """Return the study planned at further rates of its search."""
        plans = {
            world: plan(
                self.study,
                world.value,
                quick=self.quick,
                rates=rates[world],
                exact=self.exact,
                bound_events=self.bound_events,
            )
            for world in self.plans
        }
        return replace(self, plans=plans, rates=rates)


def prepare_on_hosts(
    study: StudyFile,
    examine_hosts: Callable[[Plan], tuple[Mapping[str, Examined], Sequence[str]]],
    *,
    quick: bool,
) -> Prepared:
    """Plan a study that other hosts measure, each examined by itself; raises for refusals."""
    planned = plan(study, World.measured.value, quick=quick)
    if refused := refusals(planned):
        raise StudyError("\n".join(each.text for each in refused), refused[0].fields)
    taken = HOST in {axis.name for axis in planned.study.axes}
    if taken or planned.study.search:
        message = "a study with an axis `host` or a search is not measured on several hosts"
        raise BadInput(message, where="--on", hint="Measure on each host, and compare the results.")
    hosts, lines = examine_hosts(planned)
    return Prepared(study, {World.measured: planned}, {}, quick, hosts=hosts, lines=lines)


def on_host(run: RunSpec, host: str) -> RunSpec:
    """Return a run with the level of its host."""
    return run.model_copy(update={"cell": {**run.cell, HOST: host}})


def prepare(
    study: StudyFile,
    worlds: Sequence[World],
    bindings: Bindings,
    *,
    quick: bool,
    exact: bool = False,
    cells: Sequence[Mapping[str, str]] | None = None,
    packed: bool = False,
) -> Prepared:
    """Plan and examine every world; raises for refused runs, and creates nothing.

    `cells`: prepare only cells that have all levels of one of these. `packed`: records of simulated
    runs will be packed, and so is their plan.
    """
    events = tuple(bindings.event)
    plans = {
        world: plan_packed(study, quick=quick, exact=exact)
        if packed and world is World.simulated
        else plan(study, world.value, quick=quick, exact=exact, bound_events=events, cells=cells)
        for world in worlds
    }
    chosen = ""
    # With a measured world, places are those of its real storages.
    emulated_bindings = replace(bindings, storage={}) if World.measured in worlds else bindings
    if bindings.slow is None:
        from tameshi.run.slow_motion import choose, measured_path_ns

        emulated = plans[World.emulated]
        # Refuse a bad study before a drive is served.
        examine(emulated, World.emulated, emulated_bindings)
        choice = choose(emulated, measured_path_ns(emulated))
        bindings, chosen = replace(bindings, slow=choice.factor), choice.why
        emulated_bindings = replace(emulated_bindings, slow=choice.factor)
    examined = {
        world: examine(planned, world, emulated_bindings if world is World.emulated else bindings)
        for world, planned in plans.items()
    }
    return Prepared(study, plans, examined, quick, exact, bound_events=events, chosen=chosen)

"""Files of studies and profiles: read here, interpreted by the core."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tameshi.core import compiled
from tameshi.core.data import PROFILES, STUDIES
from tameshi.core.errors import BadInput, StudyError

if TYPE_CHECKING:
    from tameshi.core.spec_types import PhaseSpec, Plan, RunSpec

RESULTS = Path("tameshi-results")


@dataclass(frozen=True)
class StudyFile:
    """Study as written; `extra`: profiles by kind that it treats as neighbouring files."""

    name: str
    path: Path
    text: str
    extra: Mapping[str, Sequence[tuple[str, str, str]]] = field(default_factory=dict)

    def results_folder(self, *, quick: bool) -> Path:
        """Return the default folder of its results; a quick run has one of its own."""
        return RESULTS / (f"{self.name}-quick" if quick else self.name)


def read_study(path: Path) -> StudyFile:
    """Read a study file, or the ready study of that name; raise `BadInput` if there is none."""
    accepted = "a study file (NAME.toml)"
    if path.parent == Path() and not path.suffix and not path.exists():
        message = "there is no such file, and no ready study of this name"
        path = find_ready(path.name, message, also=[accepted])
    return StudyFile(path.stem, path, read_text(path, accepted))


def ready_names() -> list[str]:
    """Return the names of all ready studies."""
    return sorted(path.stem for path in STUDIES.glob("*.toml"))


def find_ready(name: str, message: str, *, where: str = "", also: Sequence[str] = ()) -> Path:
    """Return the file of a ready study; raise `BadInput` with names like it, and what is `also`
    accepted."""
    ready = ready_names()
    if name not in ready:
        close = get_close_matches(name, ready, n=3, cutoff=0.5)
        raise BadInput(message, where=where, found=name, accepted=[*also, *(close or ready)])
    return STUDIES / f"{name}.toml"


def read_text(path: Path, accepted: str) -> str:
    """Read a file's text; raise `BadInput` that states what is accepted."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{error.object[error.start]:02x}"
        message = "this is no text in UTF-8"
        where = f"{path}:{line}"
        raise BadInput(message, where=where, found=found, accepted=["UTF-8"]) from None
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise BadInput(message, where=str(path), accepted=[accepted]) from None


PROFILE_KINDS = {
    "devices": "a device profile",
    "arrays": "an array profile",
    "hosts": "a host profile",
    "links": "a link profile",
    "engines": "an engine profile",
}
"""Folders of profiles with the kind of file in each."""


def profiles(kind: str, beside: Path | None = None) -> list[tuple[str, str, str]]:
    """Return name, file and text of every profile of a kind; those next to the study come first."""
    folders = [beside.parent / "profiles"] if beside else []
    found: dict[str, tuple[str, str, str]] = {}
    for folder in [*folders, PROFILES]:
        for path in sorted((folder / kind).glob("*.toml")):
            text = read_text(path, PROFILE_KINDS[kind])
            found.setdefault(path.stem, (path.stem, str(path), text))
    return [found[name] for name in sorted(found)]


def written_out(stack: Mapping[str, Any]) -> dict[str, Any]:
    """Return a storage's table with stacks in place of array profiles.

    Keys next to a profile's name change its stack. Raises `BadInput` at an unknown name.
    """
    rest = {key: written_out(of) if isinstance(of, Mapping) else of for key, of in stack.items()}
    name = rest.pop("array", None)
    if name is None:
        return rest
    known = profiles("arrays")
    text = next((text for other, _, text in known if other == name), None)
    if text is None:
        accepted = [other for other, _, _ in known]
        raise BadInput("there is no such array profile", found=str(name), accepted=accepted)
    return _merged(_plain(tomllib.loads(text)["array"]), rest)


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """Replace values with sources by plain values."""
    return {key: of["value"] if "value" in of else _plain(of) for key, of in table.items()}


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(base[key], of)
        if isinstance(of, Mapping) and isinstance(base.get(key), Mapping)
        else of
        for key, of in over.items()
    }
    return {**base, **both}


def plan(
    study: StudyFile,
    world: str,
    *,
    quick: bool,
    rates: compiled.Rates | None = None,
    exact: bool = False,
    bound_events: Collection[str] = (),
    cells: Sequence[Mapping[str, str]] | None = None,
) -> Plan:
    """Plan a study for one world; raises `StudyError` at the place of an error.

    `rates`: rates that its search has chosen so far, by cell. `exact`: simulate databases in exact
    mode, whatever the study says. `bound_events`: events that commands of the user make happen.
    `cells`: plan only cells that have all levels of one of these.
    """
    return compiled.plan(
        study.name,
        str(study.path),
        study.text,
        world=world,
        quick=quick,
        rates=rates,
        exact=exact,
        bound_events=sorted(bound_events),
        cells=cells,
        profiles=profiles_of(study),
    )


def plan_each(
    study: StudyFile, world: str, take: Callable[[int, str], None], *, quick: bool, exact: bool
) -> Plan:
    """Plan a study in constant memory: `take` gets number and JSON of each repetition of a run.

    Returns the plan without its runs; raises as `plan` does.
    """
    return compiled.plan_each(
        study.name,
        str(study.path),
        study.text,
        take,
        world=world,
        quick=quick,
        exact=exact,
        profiles=profiles_of(study),
    )


def refusals(planned: Plan) -> list[StudyError]:
    """Parts of a plan that its world cannot execute, each at its place in the study."""
    found = []
    for refusal in planned.refusals:
        fields = refusal.model_dump(exclude={"text"})
        error = {"kind": "unsupported", "did_you_mean": None, **fields}
        found.append(StudyError(refusal.text, error))
    return found


def profiles_of(study: StudyFile) -> dict[str, list[tuple[str, str, str]]]:
    """Return all profiles that a study may name, by kind."""
    return {kind: _profiles(study, kind) for kind in PROFILE_KINDS}


def _profiles(study: StudyFile, kind: str) -> list[tuple[str, str, str]]:
    extra = list(study.extra.get(kind, ()))
    names = {name for name, _, _ in extra}
    return [*extra, *(each for each in profiles(kind, study.path) if each[0] not in names)]


def longest_ns(spec: RunSpec) -> int:
    """Return an upper bound on run time in ns; phases without a time limit count as 0."""
    visits = zip(spec.phases, _visits(spec), strict=True)
    return sum((_phase_ns(phase) or 0) * often for phase, often in visits)


def untimed_bytes(spec: RunSpec) -> int | None:
    """Return the bytes moved by phases that end by an amount alone; None if a phase may not end."""
    total = 0
    for phase, often in zip(spec.phases, _visits(spec), strict=True):
        if _phase_ns(phase) is not None:
            continue
        if phase.until.amount is None:
            return None
        total += compiled.size_bytes(phase.until.amount.root) * often
    return total


def _visits(spec: RunSpec) -> list[int]:
    """Return how often a run enters each phase, at most."""
    times = [1] * len(spec.phases)
    for rounds in spec.rounds or []:
        most = rounds.times or (rounds.steady.max_rounds if rounds.steady else 1) or 1
        for index in range(rounds.first, rounds.first + rounds.phases):
            times[index] = most
    return times


def _phase_ns(phase: PhaseSpec) -> int | None:
    found = [compiled.nanoseconds(phase.until.time)] if phase.until.time else []
    rule = phase.until.steady
    if rule and rule.round and rule.max_rounds:
        ramp = compiled.nanoseconds(phase.ramp) if phase.ramp else 0
        found.append(ramp + compiled.nanoseconds(rule.round) * rule.max_rounds)
    return min(found, default=None)

"""`tameshi failover`: real servers on served drives, failed over under load."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tameshi import guard, hosts, serve
from tameshi.commands.announcement import end
from tameshi.commands.completion import complete_links, complete_storages
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.hosts import LINK, hosts_of, link_of
from tameshi.commands.options import LangOption, check_language
from tameshi.commands.serve_target import State, find_target
from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.exit_status import ExitStatus
from tameshi.hosts import messages
from tameshi.serve.faults import refuse_unnamed_losses
from tameshi.serve.kernel import enter_private_namespace

if TYPE_CHECKING:
    from tameshi.availability import Trial, TrialSet
    from tameshi.pairs.assembly import PairPlan
    from tameshi.pairs.trial import TrialPlan, TrialResult

DRIVE = "sata-ssd-480gb"
CLIENTS = 4
TABLES, ROWS, ROW_SIZE = 4, 5000, "200 B"
BUFFER_POOL = "64MiB"
ROOM = 4
"""Bytes of a drive per byte of data: log, binary log, relay log and copies."""
HOSTS = ("left=10.77.8.1", "right=10.77.8.2")
LEAST_BYTES = 2 << 30
LEAST_DATA_BYTES, WAREHOUSE_BYTES = 256 << 20, 256 << 20
"""Room for a server's own files, and per warehouse."""
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "mariadb": {"redo_log": "64 MiB", "commit": "1"},
    "postgresql": {"redo_log": "256 MiB"},
    # With its write-ahead log, a commit is durable after one sync.
    "sqlite": {"redo_log": "16 MiB", "commit": "full", "options": {"journal_mode": "wal"}},
}
RESULTS = Path("tameshi-results")
"""Folder of ready sets, as of studies."""

Ways = Annotated[
    str,
    typer.Argument(
        metavar="REPLICATION,...",
        help=(
            "Products and replications, such as mariadb-semi-synchronous; mariadb-single has no "
            "standby; or all. Or the ready set failover-ways."
        ),
    ),
]
Events = Annotated[
    str | None,
    typer.Option(
        "--event",
        help="Events before the failover, such as kill,power-cut; or all. [default: kill]",
    ),
]
Drives = Annotated[
    str | None,
    typer.Option(
        "--drive",
        help=f"Profiles of drives or arrays, of which each host has one. [default: {DRIVE}]",
        autocompletion=complete_storages,
    ),
]
Link = Annotated[
    str | None,
    typer.Option(
        "--link",
        help=f"Profile of the link; or FILE:NAME, a study's. [default: {LINK}]",
        autocompletion=complete_links,
    ),
]
Clients = Annotated[
    int | None,
    typer.Option(
        "--clients", min=1, max=1000, help=f"Clients of the service. [default: {CLIENTS}]"
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        "--rows", min=1, max=100_000_000, help=f"Rows of each of four tables. [default: {ROWS}]"
    ),
]
Warehouses = Annotated[
    int | None,
    typer.Option("--warehouses", min=0, help="TPC-C of this size instead of key updates."),
]
Buffers = Annotated[
    str | None,
    typer.Option("--buffer-pool", help=f"Buffer pool of each server. [default: {BUFFER_POOL}]"),
]
Before = Annotated[
    str | None, typer.Option("--before", help="Load before the event. [default: 4s]")
]
Notice = Annotated[
    str | None, typer.Option("--notice", help="Time from the event to the failover. [default: 0s]")
]
After = Annotated[
    str | None,
    typer.Option("--after", help="Load after the failed side is back. [default: 1500ms]"),
]
Slow = Annotated[
    str | None,
    typer.Option(
        "--slow-link", help="Factor of delay and crossing in the event slow-link. [default: 100]"
    ),
]
Processors = Annotated[
    list[str] | None,
    typer.Option(
        "--processors", metavar="HOST=NUMBERS", help="Processors of left or right, as left=0,1."
    ),
]
Quota = Annotated[
    list[str] | None,
    typer.Option(
        "--quota", metavar="HOST=SHARE", help="Processor time of left or right, as left=150%."
    ),
]
Repetitions = Annotated[
    int | None,
    typer.Option("--repetitions", min=1, max=1000, help="Trials of each combination. [default: 1]"),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", help="Seed of drives and clients; each repetition has the next. [default: 1]"
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help=(
            "Folder for each trial's result and a report; the same command resumes. [default: "
            "none; tameshi-results/NAME for a ready set]"
        ),
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Remove earlier trials of the folder first.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]

app = typer.Typer(add_completion=False)


@app.command()
def failover_command(
    replication: Ways,
    event: Events = None,
    drive: Drives = None,
    link: Link = None,
    clients: Clients = None,
    rows: Rows = None,
    warehouses: Warehouses = None,
    buffer_pool: Buffers = None,
    before: Before = None,
    notice: Notice = None,
    after: After = None,
    slow_link: Slow = None,
    processors: Processors = None,
    quota: Quota = None,
    repetitions: Repetitions = None,
    seed: Seed = None,
    out: Out = None,
    fresh: Fresh = False,
    lang: LangOption = "en",
    as_json: Json = False,
) -> None:
    """Fail real servers over under load: outage, lost commits, costs."""
    check_language(lang)
    given = {
        "link": link,
        "clients": clients,
        "rows": rows,
        "warehouses": warehouses,
        "buffer_pool": buffer_pool,
        "before": _seconds(before, "--before"),
        "notice": _seconds(notice, "--notice"),
        "after": _seconds(after, "--after"),
        "slow_factor": None if slow_link is None else messages.factor_of(slow_link, "--slow-link"),
        "processors": " ".join(processors or ()) or None,
        "quota": " ".join(quota or ()) or None,
        "repetitions": repetitions,
        "seed": seed,
    }
    asked = _asked(replication, event, drive, given)
    plans = _checked(asked)
    folder = out or (RESULTS / asked.name if asked.name else None)
    if folder:
        _conduct(asked, plans, folder, lang, fresh=fresh, as_json=as_json)
    else:
        _try_each(asked, plans, as_json=as_json)


def _asked(named: str, event: str | None, drive: str | None, given: Mapping[str, Any]) -> TrialSet:
    """Return the set of the command line: a ready one, changed, or one of replications."""
    from tameshi.availability import READY, TrialSet  # help needs no part of it
    from tameshi.pairs import EVENTS, WAYS, TrialPlan, way_named

    asked = READY.get(named) or TrialSet(ways=tuple(_listed(named, list(WAYS))))
    lists = {"events": event and _listed(event, list(EVENTS)), "drives": drive and drive.split(",")}
    changed: dict[str, Any] = {key: tuple(value) for key, value in lists.items() if value}
    changed |= {key: value for key, value in given.items() if value is not None}
    asked = replace(asked, **changed)
    for way in asked.ways:
        way_named(way)
    for each in asked.events:
        TrialPlan(each)
    return asked


def _checked(asked: TrialSet) -> dict[tuple[str, str], PairPlan]:
    """Return the plan of each way on each drive; raise `BadInput` for what cannot be."""
    from tameshi.pairs.assembly import check_pair

    shape = (asked.warehouses, asked.rows, asked.clients, asked.tables, asked.row_size)
    program = program_of(*shape)
    plans = {
        (way, drive): replace(
            pair_plan(way, drive, asked.link, program, asked.buffer_pool),
            hosts=pair_hosts(asked.processors.split(), asked.quota.split()),
        )
        for way in asked.ways
        for drive in asked.drives
    }
    for trial in asked.trials():
        if trial.event == "power-cut":
            refuse_unnamed_losses(plans[trial.way, trial.drive].drive)
    for plan in plans.values():
        check_pair(plan)
    return plans


def _try_each(asked: TrialSet, plans: Mapping[tuple[str, str], PairPlan], *, as_json: bool) -> None:
    """Make the trials and print each; keep nothing."""
    from tameshi.pairs import show

    prepare_machine()
    found = []
    for trial in asked.trials():
        found.append(_made(asked, plans, trial))
        for line in () if as_json else show.result_text(found[-1]):
            OUT.print(line, soft_wrap=True, highlight=False)
    if as_json:
        typer.echo(json.dumps([show.as_json(each) for each in found], indent=2))
    if not all(map(show.holds, found)):
        raise typer.Exit(ExitStatus.FAILED)


def _conduct(
    asked: TrialSet,
    plans: Mapping[tuple[str, str], PairPlan],
    path: Path,
    lang: str,
    *,
    fresh: bool,
    as_json: bool,
) -> None:
    """Make the trials that a folder lacks, and write its results and report."""
    from tameshi import availability
    from tameshi.pairs import show
    from tameshi.record.store import locked_study

    def make(trial: Trial) -> dict[str, Any]:
        result = _made(asked, plans, trial)
        return {**show.as_json(result), "answer": show.answer(result), "drive": trial.drive}

    def say(line: str) -> None:
        ERR.print(line, soft_wrap=True, highlight=False, markup=False)

    if fresh and path.exists():
        guard.remove_folder(path)
    with locked_study(path):
        folder = availability.SetFolder(path)
        folder.begin(asked)
        if any(folder.read(trial) is None for trial in asked.trials()):
            prepare_machine()
        done = availability.conduct(asked, folder, make, say)
        results = availability.finish(asked, folder, lang)
    _show(results, path / availability.REPORT, lang, as_json=as_json)
    end(
        interrupted=done.is_interrupted,
        complete=not results["failures"] and all(cell["holds"] for cell in results["cells"]),
        holds="the report covers the trials that have ended",
    )


def _show(results: Mapping[str, Any], report: Path, lang: str, *, as_json: bool) -> None:
    """Print the answer and the place of the report, or the results."""
    from tameshi.report.failovers import failovers_answer

    if as_json:
        typer.echo(json.dumps(results, ensure_ascii=False, indent=2))
        return
    for line in (*failovers_answer(results, lang), f"report: {report}"):
        OUT.print(line, soft_wrap=True, highlight=False, markup=False)


def _made(asked: TrialSet, plans: Mapping[tuple[str, str], PairPlan], trial: Trial) -> TrialResult:
    """Make a trial of a set."""
    from tameshi.pairs import TrialPlan

    plan, seed = plans[trial.way, trial.drive], asked.seed_of(trial)
    times = {"before": asked.before, "notice": asked.notice, "after": asked.after}
    times |= {"slow_factor": asked.slow_factor}
    seeded = replace(plan, seed=seed, drive=replace(plan.drive, seed=seed))
    return fail_over(seeded, TrialPlan(trial.event, **times))


def prepare_machine() -> None:
    """Remove what killed sessions left, and give this process mounts of its own."""
    for line in (*serve.sweep_all(), *hosts.sweep_all_hosts()):
        ERR.print(line, soft_wrap=True, highlight=False)
    enter_private_namespace()


def fail_over(plan: PairPlan, trial: TrialPlan) -> TrialResult:
    """Assemble a pair, fail it over once, and remove it."""
    from tameshi.pairs.assembly import place_of_pair
    from tameshi.pairs.mirror_assembly import any_assembled
    from tameshi.pairs.trial import run_trial

    with (
        place_of_pair() as place,
        any_assembled(plan, place, f"pair-{os.getpid()}") as (pair, load),
    ):
        return run_trial(pair, load, trial)


def pair_plan(
    name: str, drive: str, link: str, program: dict[str, Any], buffer_pool: str, seed: int = 1
) -> PairPlan:
    """Return the pair of a replication; raise `BadInput`."""
    from tameshi.core.spec_types import Engine
    from tameshi.pairs import assembly, way_named

    replication = way_named(name)
    pool_bytes = _parsed(compiled.size_bytes, buffer_pool, "--buffer-pool", "a size such as 64MiB")
    settings: dict[str, Any] = {**SETTINGS[replication.product], "buffer_pool": f"{pool_bytes} B"}
    round_trip_ns, rate_bytes = link_of(link)
    data_bytes = data_bytes_of(program)
    left, right = pair_hosts()
    return assembly.PairPlan(
        replication=replication,
        engine=Engine.model_validate(settings),
        drive=drive_plan(drive, max(ROOM * data_bytes, LEAST_BYTES), seed),
        hosts=(left, right),
        link=hosts.LinkPlan((left.name, right.name), round_trip_ns, rate_bytes, profile=link),
        data_bytes=data_bytes,
        program=program,
        seed=seed,
    )


def pair_hosts(
    processors: Sequence[str] = (), quota: Sequence[str] = ()
) -> tuple[hosts.HostPlan, hosts.HostPlan]:
    """Return the hosts of a pair with their shares of the processors; raise `BadInput`."""
    left, right = hosts_of(HOSTS, processors, quota)
    return left, right


def program_of(
    warehouses: int, rows: int, clients: int, tables: int = TABLES, row_size: str = ROW_SIZE
) -> dict[str, Any]:
    """Return the clients' program, as the database driver reads it."""
    if warehouses:
        return {"tpcc": {"warehouses": warehouses, "clients": clients}}
    shape = {"tables": tables, "rows": rows, "row_size": row_size, "clients": clients}
    return {"key_update": shape}


def data_bytes_of(program: dict[str, Any]) -> int:
    """Return the bytes that a program's database may grow to."""
    ((_, shape),) = program.items()
    if "warehouses" in shape:
        return int(shape["warehouses"]) * WAREHOUSE_BYTES + LEAST_DATA_BYTES
    row_bytes = compiled.size_bytes(shape["row_size"])
    return 2 * int(shape["tables"]) * int(shape["rows"]) * row_bytes + LEAST_DATA_BYTES


def drive_plan(name: str, size_bytes: int, seed: int) -> serve.ServePlan:
    """Return the served drive of a profile, with a file system."""
    new = State(written=None, aged=())
    target = find_target(name, size_bytes, size_bytes, new, capacitor=True, where="--drive")
    return serve.ServePlan(
        profile=target.name,
        description=target.description,
        node=target.node,
        capacity_bytes=target.capacity_bytes,
        size_bytes=target.size_bytes,
        limit_bytes=target.size_bytes,
        drives=target.drives,
        is_volatile=target.is_volatile,
        seed=seed,
    )


def _listed(text: str, known: list[str]) -> list[str]:
    """Return names separated by commas, or all; those unknown are refused later."""
    return known if text == "all" else text.split(",")


def _seconds(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    return _parsed(compiled.nanoseconds, text, option, "a time such as 4s") / 1e9


def _parsed(parse: Callable[[str], int], text: str, option: str, accepted: str) -> int:
    """Return the value of an option; raise `BadInput` for none."""
    try:
        return parse(text)
    except RunFailed as error:
        raise BadInput(error.message, where=option, found=text, accepted=[accepted]) from None

"""`tameshi failover`: pairs of real servers on served drives, failed over under load."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tameshi import hosts, serve
from tameshi.commands.completion import complete_links, complete_storages
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.hosts import LINK, link_of
from tameshi.commands.serve_target import State, find_target
from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.exit_status import ExitStatus
from tameshi.serve.faults import refuse_unnamed_losses
from tameshi.serve.kernel import enter_private_namespace

if TYPE_CHECKING:
    from tameshi.pairs.assembly import PairPlan
    from tameshi.pairs.trial import TrialPlan, TrialResult

DRIVE = "sata-ssd-480gb"
CLIENTS = 4
TABLES, ROWS, ROW_SIZE = 4, 5000, "200 B"
BUFFER_POOL = "64MiB"
ROOM = 4
"""Bytes of a drive per byte of data: log, binary log, relay log and copies."""
LEAST_BYTES = 2 << 30
LEAST_DATA_BYTES, WAREHOUSE_BYTES = 256 << 20, 256 << 20
"""Room for a server's own files, and per warehouse."""
SETTINGS = {
    "mariadb": {"redo_log": "64 MiB", "commit": "1"},
    "postgresql": {"redo_log": "256 MiB"},
}

Replications = Annotated[
    str,
    typer.Argument(
        metavar="REPLICATION,...",
        help="Products and replications, such as mariadb-semi-synchronous; or all.",
    ),
]
Events = Annotated[
    str, typer.Option("--event", help="Events before the failover, such as kill,power-cut; or all.")
]
Drive = Annotated[
    str,
    typer.Option(
        "--drive",
        help="Profile of a drive or array, which each host has.",
        autocompletion=complete_storages,
    ),
]
Link = Annotated[
    str,
    typer.Option(
        "--link",
        help="Profile of the link; or FILE:NAME, a study's.",
        autocompletion=complete_links,
    ),
]
Clients = Annotated[int, typer.Option("--clients", min=1, max=1000, help="Clients of the service.")]
Rows = Annotated[
    int, typer.Option("--rows", min=1, max=100_000_000, help="Rows of each of four tables.")
]
Warehouses = Annotated[
    int, typer.Option("--warehouses", min=0, help="TPC-C of this size instead of key updates.")
]
Pool = Annotated[str, typer.Option("--buffer-pool", help="Buffer pool of each server.")]
Before = Annotated[str, typer.Option("--before", help="Load before the event.")]
Notice = Annotated[str, typer.Option("--notice", help="Time from the event to the failover.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of drives and clients.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]

app = typer.Typer(add_completion=False)


@app.command()
def failover_command(
    replication: Replications,
    event: Events = "kill",
    drive: Drive = DRIVE,
    link: Link = LINK,
    clients: Clients = CLIENTS,
    rows: Rows = ROWS,
    warehouses: Warehouses = 0,
    buffer_pool: Pool = BUFFER_POOL,
    before: Before = "4s",
    notice: Notice = "0s",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Fail real pairs of servers over under load: outage, lost commits, costs."""
    from tameshi import pairs  # help needs no part of it
    from tameshi.pairs import show
    from tameshi.pairs.assembly import check_pair

    times = {"before": _seconds(before, "--before"), "notice": _seconds(notice, "--notice")}
    trials = [pairs.TrialPlan(name, **times) for name in _listed(event, list(pairs.EVENTS))]
    program = program_of(warehouses, rows, clients)
    plans = [
        pair_plan(name, drive, link, program, buffer_pool, seed)
        for name in _listed(replication, list(pairs.REPLICATIONS))
    ]
    for plan in plans:
        check_pair(plan)
        if any(trial.event == "power-cut" for trial in trials):
            refuse_unnamed_losses(plan.drive)
    prepare_machine()
    found = []
    for plan in plans:
        for trial in trials:
            found.append(fail_over(plan, trial))
            for line in () if as_json else show.result_text(found[-1]):
                OUT.print(line, soft_wrap=True, highlight=False)
    if as_json:
        typer.echo(json.dumps([show.as_json(each) for each in found], indent=2))
    if not all(map(show.holds, found)):
        raise typer.Exit(ExitStatus.FAILED)


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
    from tameshi.pairs import assembly, replication_named

    replication = replication_named(name)
    pool_bytes = _parsed(compiled.size_bytes, buffer_pool, "--buffer-pool", "a size such as 64MiB")
    settings = {**SETTINGS[replication.product], "buffer_pool": f"{pool_bytes} B"}
    round_trip_ns, rate_bytes = link_of(link)
    data_bytes = data_bytes_of(program)
    left, right = hosts.HostPlan("left", "10.77.8.1"), hosts.HostPlan("right", "10.77.8.2")
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


def program_of(warehouses: int, rows: int, clients: int) -> dict[str, Any]:
    """Return the clients' program, as the database driver reads it."""
    if warehouses:
        return {"tpcc": {"warehouses": warehouses, "clients": clients}}
    shape = {"tables": TABLES, "rows": rows, "row_size": ROW_SIZE, "clients": clients}
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
    target = find_target(name, size_bytes, size_bytes, new, capacitor=True)
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


def _seconds(text: str, option: str) -> float:
    return _parsed(compiled.nanoseconds, text, option, "a time such as 4s") / 1e9


def _parsed(parse: Callable[[str], int], text: str, option: str, accepted: str) -> int:
    """Return the value of an option; raise `BadInput` for none."""
    try:
        return parse(text)
    except RunFailed as error:
        raise BadInput(error.message, where=option, found=text, accepted=[accepted]) from None

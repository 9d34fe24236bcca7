"""`tameshi ask`: options, announcements and exit status."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tameshi import ask, guard
from tameshi import cluster as clusters
from tameshi.commands.announcement import end
from tameshi.commands.completion import complete_storages
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.commands.study_options import ClusterOption
from tameshi.commands.summary import print_summary
from tameshi.core.errors import BadInput
from tameshi.core.option_values import size_of, time_of
from tameshi.core.spec_types import World
from tameshi.study.file import profiles
from tameshi.workflow import study_folder
from tameshi.workflow.execute import tasks

HOST = "2x-xeon-e5-2680v3-centos72"
DEFAULT_OUT = Path("tameshi-results") / "asked"
MOST = 1_000_000
MOST_QPS = 1_000_000_000
PROCESSORS = os.cpu_count() or 1
STARTS = ("warm", "cold")

Strings = list[str] | None

DatabaseSizeOption = Annotated[str, typer.Option(help="Size of the data set, for example 24GB.")]
BufferPoolOption = Annotated[
    str,
    typer.Option(
        help="Sizes of the buffer pool: a range such as 8GB..64GB, or a list such as 8GB,24GB."
    ),
]
StorageOption = Annotated[
    str,
    typer.Option(
        help=(
            "Storages, separated by commas: device or array profiles, arrays such as "
            "raid10:6:sas-15k-146gb, names from the catalog."
        ),
        autocompletion=complete_storages,
    ),
]
TargetQpsOption = Annotated[float, typer.Option(help="Target throughput in statements per second.")]
TargetP99Option = Annotated[
    str | None,
    typer.Option(
        help="Upper bound on the 99th percentile latency of each transaction type.",
    ),
]
WorkloadOption = Annotated[str, typer.Option(help="Workload: tpcc, oltp or key_update.")]
ClientsOption = Annotated[int, typer.Option(min=1, max=MOST, help="Connections.")]
EngineOption = Annotated[str, typer.Option(help="Database engine: mysql or mariadb.")]
EngineVersionOption = Annotated[
    str | None,
    typer.Option(
        help="Engine version, for example 5.5. [default: the newest modelled]",
    ),
]
HostOption = Annotated[str, typer.Option(help="Host profile.")]
RedoLogOption = Annotated[str, typer.Option(help="Size of the redo log.")]
RowSizeOption = Annotated[
    str | None,
    typer.Option(help="Row size of key_update. [default: 300 B]"),
]
StartOption = Annotated[
    str,
    typer.Option(
        help="warm; or cold, which includes the time to fill the buffer pool.",
    ),
]
TimeOption = Annotated[
    str,
    typer.Option(
        help="Virtual time that each configuration is measured for.",
    ),
]
RampOption = Annotated[
    str | None,
    typer.Option(
        help="Ramp before the measurement. [default: one pass through the redo log, 1 min at most]",
    ),
]
ScaleOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        help=(
            "Simulate 1/N of data, buffer pool, redo log and drives. [default: the largest N "
            "with little effect on results]"
        ),
    ),
]
RepetitionsOption = Annotated[int, typer.Option(min=1, help="Runs per configuration.")]
CatalogOption = Annotated[
    Path | None,
    typer.Option(
        help="TOML file with [storage.NAME] as in a study, [price] and [power].",
    ),
]
PriceOption = Annotated[
    Strings,
    typer.Option(
        help=(
            "NAME=NUMBER (repeatable): price of a storage; of `memory` per GiB of buffer "
            "pool; of `energy` per kWh, over `years` (3)."
        ),
    ),
]
PowerOption = Annotated[
    Strings,
    typer.Option(
        help="NAME=WATTS (repeatable): power of a storage, or of `memory` per GiB.",
    ),
]
VaryOption = Annotated[
    Strings,
    typer.Option(
        help=(
            "INPUT=LOW..HIGH (repeatable): range of an uncertain input: redo_log, clients, "
            "row_size (a factor)."
        ),
    ),
]
SensitivityOption = Annotated[
    bool, typer.Option(help="Test how the answer depends on uncertain inputs.")
]
RefineOption = Annotated[
    bool,
    typer.Option(
        help="Search between buffer pool sizes for the smallest that meets the target.",
    ),
]
OutOption = Annotated[Path, typer.Option(help="Results folder.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Number of runs in parallel.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Remove earlier results first.")]


app = typer.Typer(add_completion=False)


@app.command()
def asked(
    database_size: DatabaseSizeOption,
    buffer_pool: BufferPoolOption,
    storage: StorageOption,
    target_qps: TargetQpsOption,
    target_p99: TargetP99Option = None,
    workload: WorkloadOption = "tpcc",
    clients: ClientsOption = 20,
    engine: EngineOption = "mysql",
    engine_version: EngineVersionOption = None,
    host: HostOption = HOST,
    redo_log: RedoLogOption = "2 GiB",
    row_size: RowSizeOption = None,
    start: StartOption = "warm",
    time: TimeOption = "30 s",
    ramp: RampOption = None,
    scale: ScaleOption = None,
    repetitions: RepetitionsOption = 1,
    catalog: CatalogOption = None,
    price: PriceOption = None,
    power: PowerOption = None,
    vary: VaryOption = None,
    sensitivity: SensitivityOption = True,
    refine: RefineOption = True,
    out: OutOption = DEFAULT_OUT,
    jobs: JobsOption = PROCESSORS,
    cluster: ClusterOption = None,
    lang: LangOption = "en",
    fresh: FreshOption = False,
) -> None:
    """Find the cheapest storage and buffer pool that meet a target, by simulation."""
    check_language(lang)
    check_word("--workload", workload, ask.WORKLOADS)
    check_word("--engine", engine, ask.ENGINES)
    check_word("--start", start, STARTS)
    check_word("--host", host, tuple(name for name, _, _ in profiles("hosts")))
    _check_rate(target_qps)
    clusters.check(cluster, [World.simulated])
    tables = ask.catalog_of(catalog)
    storages = ask.storages_of("--storage", storage, tables)
    redo_bytes = size_of("--redo-log", redo_log)
    known = {"redo_log": float(redo_bytes), "clients": float(clients), "scale": float(scale or 1)}
    varied = ask.varied_of("--vary", vary or (), known)
    pools, listed_pools = ask.pools_of("--buffer-pool", buffer_pool)
    question = ask.Question(
        database_bytes=size_of("--database-size", database_size),
        pools=pools,
        listed_pools=listed_pools,
        storages=storages,
        target_qps=target_qps,
        target_p99_ns=None if target_p99 is None else time_of("--target-p99", target_p99),
        workload=workload,
        clients=clients,
        engine=engine,
        version=engine_version,
        host=host,
        redo_bytes=redo_bytes,
        row_bytes=_row_bytes(workload, row_size),
        start=start,
        time_ns=time_of("--time", time),
        ramp_ns=None if ramp is None else time_of("--ramp", ramp),
        scale=scale,
        repetitions=repetitions,
        costs=ask.costs_of(storages, tables, price or (), power or ()),
        varied=tuple(varied) if sensitivity else (),
    )
    question, left = ask.with_capacity(question, out)
    asking = ask.Asking(question, left, out, jobs, refine, _reproduce())
    with clusters.connected(cluster, jobs) as elsewhere:
        _conduct(replace(asking, elsewhere=elsewhere), tables, lang, fresh)


def _check_rate(target_qps: float) -> None:
    if not 0 < target_qps <= MOST_QPS:
        accepted = [f"a number above zero, {MOST_QPS:,} at most"]
        message = "the rate is out of range"
        raise BadInput(message, where="--target-qps", found=f"{target_qps:g}", accepted=accepted)


def _reproduce() -> list[str]:
    return [shlex.join(["tameshi", *sys.argv[1:]])]


MOST_ROW_BYTES = 8000
"""Upper bound on a row in bytes. InnoDB moves part of a row over half a page to overflow pages,
which are not simulated."""


def _row_bytes(workload: str, row_size: str | None) -> int:
    if row_size is None:
        return ask.ROW_BYTES
    if workload != "key_update":
        message = f"--row-size does not apply to {workload}: its rows have a fixed size"
        accepted = [
            "--workload key_update",
            "--vary row_size=LOW..HIGH, which scales the data instead",
        ]
        raise BadInput(message, where="--row-size", found=row_size, accepted=accepted)
    size = size_of("--row-size", row_size)
    if not 1 <= size <= MOST_ROW_BYTES:
        accepted = [f"1 B to {MOST_ROW_BYTES} B"]
        message = "a row takes at most half a page"
        raise BadInput(message, where="--row-size", found=row_size, accepted=accepted)
    return size


def _conduct(asking: ask.Asking, catalog: ask.Catalog, lang: str, fresh: bool) -> None:
    question, out = asking.question, asking.folder
    prepared = ask.prepared(question, out, catalog)
    for line in _announced(asking, len(tasks(prepared))):
        OUT.print(line, soft_wrap=True)
    if fresh and out.exists():
        guard.remove_folder(out)
    done = ask.ask(asking, ERR)
    print_summary(study_folder.show(out, lang), OUT, verbose=True)
    end(interrupted=done.interrupted, complete=done.complete)


def _announced(asking: ask.Asking, runs: int) -> Iterator[str]:
    """Yield lines on the simulations to come: number, virtual time, host, storages left out."""
    question = asking.question
    scale = ask.scale_of(question)
    seconds = ask.lasts_of(question, scale) / 1e9
    size = f"at 1/{scale} of the size" if scale > 1 else "at full size"
    gets = f"{ask.page_gets(question, scale) / 1e6:.3g} million pages"
    yield (
        f"simulated: {runs} configurations {size}, each {seconds:.3g} s of virtual time; "
        f"one that just meets the target needs {gets}"
    )
    assumed = ", assumed: --host names another" if question.host == HOST else ""
    yield f"host: {question.host}{assumed}"
    if question.varied:
        others = 2 * len(question.varied)
        yield f"  then the answer with {others} other values of uncertain inputs"
    for each in asking.left:
        yield f"left out: {each['storage']}: {each['reason']}"

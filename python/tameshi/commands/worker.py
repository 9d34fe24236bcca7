"""`tameshi worker`: worker of a Dask cluster that measures on this host, within a permission."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from tameshi import cluster as clusters
from tameshi.commands.consoles import ERR

app = typer.Typer(add_completion=False)


@app.command()
def worker_command(
    address: Annotated[
        str, typer.Argument(help="Address of the scheduler: tls://HOST:PORT or tcp://HOST:PORT.")
    ],
    allow: Annotated[
        list[Path] | None,
        typer.Option(
            "--allow",
            help="Directory, file or device that measured runs may use (repeatable).",
        ),
    ] = None,
    destroy: Annotated[
        list[str] | None,
        typer.Option(
            "--destroy",
            help=(
                "Real path of a file, or serial number, WWN or by-id link of a disk, whose "
                "content may be destroyed (repeatable)."
            ),
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", help="Name of this host in --on HOST:NAME=PATH. [default: the host name]"
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", min=1, help="Number of simulated runs in parallel.")
    ] = 1,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", help="Connect beyond this machine without TLS: only on a trusted network."
        ),
    ] = False,
) -> None:
    """Start a worker that makes runs of a cluster on this host, until it is stopped."""
    clusters.check_address(address)
    from tameshi.cluster.permission import grant
    from tameshi.cluster.serving import require_private, serve

    if not insecure:
        require_private(address)
    name = host or socket.gethostname()
    permission = grant(name, allow or [], destroy or [])
    ERR.print(f"worker {name} of {address}", soft_wrap=True, markup=False, highlight=False)
    for path in permission.paths:
        ERR.print(f"  may use {path}", soft_wrap=True, markup=False, highlight=False)
    for each in permission.destroy:
        ERR.print(f"  may destroy {each}", soft_wrap=True, markup=False, highlight=False)
    serve(address, permission, threads)

"""Worker process of a fleet: a worker of Dask without a nanny, which would start it anew without
its permission."""

from __future__ import annotations

import asyncio
import signal
import tempfile

from tameshi.cluster.local import LOOPBACK, QUIET
from tameshi.cluster.measuring import RESOURCE
from tameshi.cluster.permission import Permission
from tameshi.core.errors import BadInput

ANSWER_S = 60.0
"""Time in which a scheduler must answer."""


def serve(address: str, permission: Permission, threads: int) -> None:
    """Be a worker until the scheduler ends it, or a signal comes."""
    import dask

    with (
        dask.config.set(QUIET),
        tempfile.TemporaryDirectory(prefix="tameshi-worker-") as folder,
    ):
        asyncio.run(_serve(address, permission, threads, folder))


async def _serve(address: str, permission: Permission, threads: int, folder: str) -> None:
    from distributed import Security, Worker

    is_local = "127.0.0.1" in address or "localhost" in address
    try:
        worker = await asyncio.wait_for(
            Worker(
                address,
                nthreads=threads,
                name=permission.host,
                resources={RESOURCE: 1} if permission.paths else None,
                security=Security(),
                host=LOOPBACK if is_local else None,
                local_directory=folder,
                dashboard=False,
                memory_limit=0,
            ),
            ANSWER_S,
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(
            "the scheduler refuses this worker, or does not answer",
            where=address,
            found=" ".join(str(error).split()),
            hint="A host has one worker of its name; --host gives another name.",
        ) from None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: asyncio.ensure_future(worker.close()))
    await worker.finished()

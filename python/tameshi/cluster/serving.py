"""Worker process of a fleet: a worker of Dask without a nanny, which would start it anew without
its permission."""

from __future__ import annotations

import asyncio
import ipaddress
import signal

from tameshi.cluster.local import LOOPBACK, QUIET
from tameshi.cluster.measuring import RESOURCE
from tameshi.cluster.permission import Permission
from tameshi.core.errors import BadInput

ANSWER_S = 60.0
"""Time in which a scheduler must answer."""
TLS = "tls://"


def loopback_of(address: str) -> str | None:
    """Return the loopback address of this machine that an address names; None for another.

    Of names, only `localhost` counts: what others mean is decided elsewhere.
    """
    host = address.partition("://")[2].rpartition(":")[0].strip("[]")
    host = LOOPBACK if host == "localhost" else host
    try:
        return host if ipaddress.ip_address(host).is_loopback else None
    except ValueError:
        return None


def require_private(address: str) -> None:
    """Raise `BadInput` for a scheduler that others could reach without a certificate."""
    if not address.startswith(TLS) and loopback_of(address) is None:
        raise BadInput(
            "everybody who reaches this scheduler could measure here",
            where=address,
            accepted=["tls://HOST:PORT with TLS set up in Dask's configuration", "--insecure"],
        )


def serve(address: str, permission: Permission, threads: int) -> None:
    """Be a worker until the scheduler ends it, or a signal comes."""
    import dask

    with dask.config.set(QUIET):
        asyncio.run(_serve(address, permission, threads))


async def _serve(address: str, permission: Permission, threads: int) -> None:
    from distributed import Security, Worker

    try:
        worker = await asyncio.wait_for(
            Worker(
                address,
                nthreads=threads,
                name=permission.host,
                resources={RESOURCE: 1} if permission.paths else None,
                security=Security(),
                host=None if address.startswith(TLS) else loopback_of(address),
                dashboard=False,
                memory_limit=0,
            ),
            ANSWER_S,
        )
    except (ImportError, TypeError, RuntimeError, OSError, ValueError, TimeoutError) as error:
        raise BadInput(
            "the scheduler refuses this worker, or does not answer",
            where=address,
            found=_causes(error),
            hint="A host has one worker of its name; --host gives another name. TLS is set up in "
            "Dask's configuration, distributed.comm.tls.",
        ) from None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: asyncio.ensure_future(worker.close()))
    await worker.finished()


def _causes(error: BaseException) -> str:
    """Return the words of an error and of what caused it: Dask wraps them."""
    said: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        said.append(" ".join(f"{type(cause).__name__}: {cause}".split()))
        cause = cause.__cause__
    return "; ".join(said)

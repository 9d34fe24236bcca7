"""Private instance: its own data directory, socket and user, separate from the system's."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from tameshi import guard
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.memory_group import MemoryGroup, memory_group
from tameshi.core.spec_types import Engine
from tameshi.servers import slow_clock
from tameshi.servers.accounts import account_of, require_reach
from tameshi.servers.catalog import program_of
from tameshi.servers.endings import cause_of
from tameshi.servers.installed import Program
from tameshi.servers.product import (
    LOOPBACK,
    Address,
    Client,
    ClientError,
    Home,
    Product,
    size_of,
)

INITIALISE_SECONDS = 300.0
START_SECONDS = 300.0
"""Time limit of a start in s; after a crash it replays the log, which may be gigabytes."""
STOP_SECONDS = 600.0
"""Time limit of a stop in s, which writes every dirty page of the pool."""
_POLL_SECONDS = 0.02
_KEPT_LINES = 12
_LONGEST_SOCKET_PATH = 107  # unix(7)
_TELLING = re.compile(r"ERROR|FATAL|PANIC|error:")
_FULL = re.compile(
    r"No space left on device|[Ee]rr(?:no|or):? 28\b|[Dd]isk (is )?full|[Tt]able '.*' is full"
)


@dataclass(frozen=True)
class Kept:
    """Database that stays after its run: its place, and the commands that start and reach it."""

    title: str
    folder: Path
    start: Sequence[str]
    """Empty for an embedded database."""
    shell: Sequence[str]


class DataDirectory:
    """Data directory of Tameshi's, claimed for one instance at a time and owned by its account.

    Use it with `with`, whose end releases the claim. Only `empty` and `discard` delete anything in
    it.
    """

    def __init__(
        self, plan: guard.DirectoryPlan, product: Product, port: int | None = None
    ) -> None:
        self._made = plan.action == "create"
        self._account = account_of(product)
        self._product = product
        data = guard.claim_data_directory(plan)
        self.home = Home(plan.path, data, port)
        self._lock: int | None = self._locked()
        try:
            with suppress(FileExistsError):
                self.home.run.mkdir(mode=0o700)
            self._hand_over()
            require_reach(self._account, self.home.data)
        except BaseException:
            self._unlock()
            if self._made:
                guard.remove_folder(plan.path)
            raise

    def _locked(self) -> int:
        lock = os.open(self.home.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise BadInput(
                "another run of Tameshi has a server in this data directory",
                where=str(self.home.folder),
                hint="Wait for its end, or bind another directory.",
            ) from None
        return lock

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Close all files in it for a while, so that its file system can be unmounted and
        mounted."""
        self._unlock()
        try:
            yield
        finally:
            self._lock = self._locked()

    def _unlock(self) -> None:
        """Close the lock, unless a failure has left it closed."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _hand_over(self) -> None:
        for folder in (self.home.data, self.home.run):
            self._account.own(folder)

    def own_folder(self, role: str) -> Path:
        """Return the folder of files that have one of their own, such as `log`; make it if
        needed."""
        folder = self.home.folder / role
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        self._account.own(folder)
        return folder

    def is_empty(self) -> bool:
        """Return whether it holds no database."""
        return not any(self.home.data.iterdir())

    def empty(self) -> None:
        """Delete a server's files, and its remains outside the directory."""
        self._product.bury(self.home)
        guard.empty_data_directory(self.home.folder)
        self.home.run.mkdir(mode=0o700)
        self._hand_over()

    def discard(self) -> None:
        """Delete the folder if it was created here, else its contents."""
        if self._made:
            self._product.bury(self.home)
            guard.remove_folder(self.home.folder)
        else:
            self.empty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._unlock()


class PrivateServer:
    """Instance of a product in a data directory, with the settings of a study's engine.

    `log` is a file in a folder of Tameshi's for the server's messages. The thread that starts the
    server has to outlive it: the kernel kills the server when that thread ends, so that no server
    outlives Tameshi. `loading` selects the product's settings for loading a data set. `connections`
    of clients and of Tameshi are admitted. `home` is the directory's, if it is not given. `slow`:
    its clock is that much slower than the wall's, and Tameshi's patience is that much longer.
    `within`: returns the command that runs another one in a host; its Unix socket stays in reach.
    """

    def __init__(
        self,
        product: Product,
        engine: Engine,
        directory: DataDirectory,
        log: Path,
        *,
        program: Program | None = None,
        loading: bool = False,
        connections: int = 0,
        home: Home | None = None,
        slow: float = 1,
        within: Callable[[Sequence[str]], list[str]] = list,
    ) -> None:
        self.product = product
        self.program = program or program_of(product, engine)
        self.options = product.options(engine, self.program)
        if loading:
            self.options |= product.loading(self.options)
        self.options = product.admitting(connections, self.options)
        if slow != 1:
            self.options = product.slowed(self.options, slow)
        self._slow = slow
        self._within = within
        self._pool_bytes = size_of(engine.buffer_pool) if engine.buffer_pool else 0
        self.home = home or directory.home
        self.directory = directory
        self._account = account_of(product)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._said_from = 0
        self._group: MemoryGroup = memory_group()
        reach = len(os.fsencode(str(self.address.socket or "")))
        if reach > _LONGEST_SOCKET_PATH:
            raise BadInput(
                "the path of the server's socket is too long for the kernel",
                where=str(self.address.socket),
                found=f"{reach} bytes",
                accepted=[f"at most {_LONGEST_SOCKET_PATH} bytes: bind a shorter path"],
            )

    @property
    def address(self) -> Address:
        """Return the address for clients."""
        return self.product.address(self.home, self.options)

    @property
    def pid(self) -> int | None:
        """Return its process id while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def command(self) -> list[str]:
        """Return its command line, which holds no password."""
        return self.product.command(self.program, self.home, self.options)

    def kept(self) -> Kept:
        """Return the way to use its database after the run."""
        start = self._account.starting(self.command()) if self.command() else []
        title = f"{self.product.title} {self.program.version}"
        return Kept(title, self.home.folder, start, self.product.shell(self.address))

    def initialise(self, patience_seconds: float = INITIALISE_SECONDS) -> None:
        """Make an empty database. Discard the remains of a failure.

        Raises `BadInput` if one exists, `RunFailed` if the product fails.
        """
        if not self.directory.is_empty():
            raise BadInput(
                "the data directory is not empty",
                where=str(self.home.data),
                found=f"{len(list(self.home.data.iterdir()))} entries",
                accepted=["an empty directory", "a directory that is emptied first"],
            )
        try:
            command = self.product.initialise(self.program, self.home, self.options)
            if command:
                self._run_to_end(command, patience_seconds)
                self._make_database()
        except BaseException:
            self._give_up()
            self.directory.discard()
            raise

    def _make_database(self) -> None:
        self.start()
        with self.client() as client:
            self.product.create(client)
        self.stop()

    def _run_to_end(self, command: Sequence[str], patience_seconds: float) -> None:
        process = self._spawn(command)
        try:
            status = process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            raise self._failure(f"did not make a database in {patience_seconds:g} s") from None
        finally:
            self._give_up()
        if status:
            raise self._failure(f"could not make a database (status {status})")

    def start(self, patience_seconds: float = START_SECONDS) -> None:
        """Start it and wait until it answers.

        Raises `BadInput` for a port or socket in use, `RunFailed` with its last words if it ends or
        misses the time limit; then no process of it is left.
        """
        if self.product.embedded:
            return
        if self.pid is not None:
            raise RunFailed(f"{self.product.title} is running already", where=str(self.home.folder))
        self._refuse_taken()
        process = self._spawn(self.command())
        patience_seconds *= self._slow
        deadline = time.monotonic() + patience_seconds
        try:
            while not self._answers():
                if process.poll() is not None:
                    raise self._failure(f"ended during start-up ({self._cause(process)})")
                if time.monotonic() > deadline:
                    raise self._failure(f"was not ready in {patience_seconds:g} s")
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self._give_up()
            raise

    def stop(self, patience_seconds: float = STOP_SECONDS) -> None:
        """Shut it down cleanly. Raise `RunFailed` if it fails; it is then killed."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(self.product.stop_signal)
        patience_seconds *= self._slow
        try:
            status = process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            raise self._failure(f"did not stop in {patience_seconds:g} s and was killed") from None
        finally:
            self._give_up()
        if status:
            raise self._failure(f"failed at shutdown ({self._cause(process)})")

    def kill(self) -> None:
        """Send SIGKILL. The kernel keeps its writes: this proves nothing about storage."""
        self._give_up()

    def wait_gone(self, patience_seconds: float) -> bool:
        """Return whether it ends by itself within this time."""
        if self._process is None:
            return True
        try:
            self._process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def client(self, timeout_seconds: float = 60.0) -> Client:
        """Connect for Tameshi's own use; raise `ClientError`."""
        return self.product.connect(self.address, timeout_seconds * self._slow)

    def ended(self) -> str | None:
        """Return the cause of its end and its errors; None while it runs."""
        if self._process is None or self._process.poll() is None:
            return None
        errors = " / ".join(self._errors()[-_KEPT_LINES:])
        ended = f"{self.product.title} ended ({self._cause(self._process)})"
        return f"{ended}: {errors}" if errors else ended

    def last_words(self) -> list[str]:
        """Return its error messages since the last start; else its last lines."""
        return (self._errors() or self._said())[-_KEPT_LINES:]

    def _errors(self) -> list[str]:
        return [line for line in self._said() if _TELLING.search(line)]

    def _cause(self, process: subprocess.Popen[bytes]) -> str:
        return cause_of(process.returncode, self._group, memory_group(), self._pool_bytes)

    def _said(self) -> list[str]:
        with suppress(OSError), self._log.open("rb") as file:
            file.seek(self._said_from)
            lines = file.read().decode(errors="replace").splitlines()
            return [line.strip() for line in lines if line.strip()]
        return []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop it; kill it after an exception."""
        if kind is None:
            self.stop()
        else:
            self._give_up()

    def _answers(self) -> bool:
        try:
            with self.client(timeout_seconds=5) as client:
                return len(client.query("SELECT 1")) == 1
        except ClientError:
            return False

    def _refuse_taken(self) -> None:
        if self.address.socket and _listening(self.address.socket):
            raise BadInput(
                "another server listens on the socket",
                where=str(self.address.socket),
                hint="Stop that server, or bind another directory.",
            )
        # The port of a host is in its network: a server that finds it in use says so itself.
        here = self.home.bind == LOOPBACK
        if here and self.home.port is not None and not _port_is_free(self.home.port):
            raise BadInput(
                "another server listens on the port",
                where=f"port {self.home.port}",
                hint="Choose another port.",
            )

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        self._account.own(self.home.run)
        with guard.append_file(self._log) as log:
            self._said_from = log.seek(0, os.SEEK_END)
            self._group = memory_group()
            words = self._account.running(slow_clock.slowed(command, self._slow))
            try:
                self._process = subprocess.Popen(
                    self._within(words),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.home.run,
                    env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                    start_new_session=True,
                )
            except OSError as error:
                message = f"{self.product.title} could not be started"
                found = error.strerror or ""
                raise RunFailed(message, where=command[0], found=found) from None
        return self._process

    def _give_up(self) -> None:
        """Kill the process and all its descendants."""
        process, self._process = self._process, None
        if process is None:
            return
        family = []
        with suppress(psutil.NoSuchProcess):  # it may end by itself at any moment
            process.send_signal(signal.SIGSTOP)  # it must not have more children meanwhile
            family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        if self._slow != 1:
            slow_clock.bury(process.pid)
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.kill()
        for member in family:
            _wait_gone(member)
        self.product.bury(self.home)

    def _failure(self, what: str) -> RunFailed:
        return RunFailed(
            f"{self.product.title} {what}",
            where=str(self.home.folder),
            found=" / ".join(self.last_words()) or "it said nothing",
            hint=full_hint(self._said()),
        )


def full_hint(said: Iterable[str]) -> str:
    """Return a hint if a message of a server or client means a full storage, else an empty
    string."""
    full = any(_FULL.search(line) for line in said)
    return "The storage ran full: make room, or use a smaller data set." if full else ""


def prepare_directory(
    path: Path,
    product: Product,
    size_bytes: int,
    destroy: Sequence[str] = (),
    port: int | None = None,
) -> DataDirectory:
    """Examine and claim a data directory for `size_bytes` of a product's data."""
    plan = guard.check_data_directory(path, size_bytes, destroy)
    return DataDirectory(plan, product, port)


def _listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def _port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def _wait_gone(process: psutil.Process) -> None:
    """Wait until the process is gone or a zombie of another parent."""
    while process.is_running():
        with suppress(psutil.NoSuchProcess):
            if process.status() == psutil.STATUS_ZOMBIE:
                return
        time.sleep(_POLL_SECONDS)

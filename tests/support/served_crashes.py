"""Load, crashes, recovery and checks on an emulated drive: `served_crashes.py SPEC`.

In a process with mounts of its own. Appends a line of JSON per crash to the file `results`.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from crashing import PATIENCE_SECONDS, Crashing
from making import Maker

from tameshi import guard, serve
from tameshi.commands.serve_target import State, find_target
from tameshi.core.compiled import Oltp
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.serve import plans
from tameshi.serve.drive import ServedDrive
from tameshi.serve.kernel import enter_private_namespace

STUCK_SECONDS = 10.0


class ServedVolume:
    """Served drive with its file system, as a volume whose power is cut."""

    def __init__(self, drive: ServedDrive) -> None:
        self.drive = drive
        self.point = drive.make_file_system()
        self.cuts: list[dict[str, Any]] = []
        self._cut_ns = 0

    def cut(self) -> None:
        self._cut_ns = time.monotonic_ns()
        losses = self.drive.ask("cut")
        losses.pop("ranges", None)
        self.cuts.append(losses)

    def unmount(self) -> None:
        """Do nothing: `mount` takes file system and device away first."""

    def mount(self) -> None:
        self.cuts[-1] |= self.drive.restore_power(self._cut_ns, kill=False)


class ServedCrashes(Crashing):
    """Crashes on a served drive, also while the server recovers from one.

    `writes_under_way`: the power is cut once this many are.
    """

    writes_under_way = 0
    recovery_seconds = 0.5

    def crash(self, how: str, chance: random.Random) -> dict[str, Any]:
        """Crash once, or again during recovery; return the check and what the cuts took."""
        self.volume.cuts.clear()
        begin = time.monotonic()
        self.again = chance.uniform(0, 0.6) if how == "recovery" else None
        self.caught_in_recovery = False
        found: dict[str, Any] = {"how": how}
        try:
            check = self.cycle("kill" if how == "kill" else "cut", chance)
            found |= {"holds": check["holds"], "ledger": check["ledger"]}
        except RunFailed as error:
            found |= {"holds": False, "error": str(error)}
        found["in_recovery"] = self.caught_in_recovery
        found |= {"cuts": list(self.volume.cuts), "stuck": stuck()}
        return found | {"seconds": round(time.monotonic() - begin, 3)}

    def _let_work(self, before: int, chance: random.Random) -> None:
        super()._let_work(before, chance)
        counters = Path("/sys/block", self.volume.drive.node.name, "inflight")
        end = time.monotonic() + PATIENCE_SECONDS
        while int(counters.read_text().split()[1]) < self.writes_under_way:
            assert time.monotonic() < end, f"never {self.writes_under_way} writes under way"
            time.sleep(0.0002)

    def recover(self) -> None:
        """Start the server; the power may fail meanwhile."""
        if self.again is not None:
            self._cut_during(self.again)
        begin = time.monotonic()
        self._come_back()
        self.recovery_seconds = time.monotonic() - begin

    def _come_back(self) -> None:
        super().recover()
        if self.server.product.embedded:  # Its first client recovers it.
            Oltp(self.spec()).check(fresh=False)

    def _cut_during(self, share: float) -> None:
        """Cut the power at this share of the time that the last recovery took."""
        starting = threading.Thread(target=self._try_to_recover)
        starting.start()
        starting.join(share * self.recovery_seconds)
        self.caught_in_recovery = starting.is_alive()
        self.volume.cut()
        while starting.is_alive():
            self.server.kill()
            starting.join(0.05)
        self.server.kill()
        with self.server.directory.let_go():
            self.volume.mount()

    def _try_to_recover(self) -> None:
        with suppress(TameshiError, OSError):
            self._come_back()


def stuck() -> list[str]:
    """Return processes that stay in uninterruptible sleep."""
    end = time.monotonic() + STUCK_SECONDS
    sleeping = uninterruptible()
    while sleeping and time.monotonic() < end:
        time.sleep(0.02)
        sleeping &= uninterruptible()
    return sorted(sleeping)


def uninterruptible() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = path.read_text().rpartition(") ")
            found |= {name} if rest.startswith("D") else set()
    return found


def plan_of(spec: dict[str, Any]) -> serve.ServePlan:
    """Return the plan of the spec's drive."""
    capacitor, size_bytes = not spec.get("without_capacitor"), spec["size_bytes"]
    new = State(written=None, aged=())
    target = find_target(spec["drive"], size_bytes, size_bytes, new, capacitor=capacitor)
    for group, values in spec.get("changes", {}).items():
        for key, value in values.items():
            target.node["device"]["device"]["flash"][group][key]["value"] = value
    return serve.ServePlan(
        profile=target.name,
        description=target.description,
        node=target.node,
        capacity_bytes=target.capacity_bytes,
        size_bytes=target.size_bytes,
        limit_bytes=size_bytes,
        is_volatile=target.is_volatile,
        seed=spec["seed"],
        lies=tuple(spec.get("lies", ())),
        file_system=spec["file_system"],
    )


def crash_in_turn(spec: dict[str, Any]) -> None:
    """Crash as the spec says; end early after a failed check if it says so."""
    folder, name = Path(spec["ground"]), spec["engine"]
    with ExitStack() as stack:
        plan = plan_of(spec)
        plans.check_plan(plan)
        drive = stack.enter_context(ServedDrive(plan, f"crashes-{os.getpid()}", private=True))
        volume = ServedVolume(drive)
        guard.claim_folder(folder / "run")
        make = Maker(
            folder, folder, stack, {key: Path(of) for key, of in spec["templates"].items()}
        )
        server = make.server(
            *(name, volume.point / "db", spec["program"], spec.get("sizes")), **spec["settings"]
        )
        drive.settle()
        drive.switch_on()
        server.start()
        drive.settle()
        (folder / "load").mkdir()
        crashes = ServedCrashes(
            server, spec["program"], folder / "load", volume, spec.get("sizes"), spec["pause"]
        )
        crashes.writes_under_way = spec.get("writes_under_way", 0)
        chance = random.Random(f"{spec['seed']} {name} {spec['file_system']}")
        for how in spec["ways"]:
            found = crashes.crash(how, chance)
            with Path(spec["results"]).open("a", encoding="utf-8") as results:
                results.write(json.dumps(found) + "\n")
            if not found["holds"]:
                break


if __name__ == "__main__":
    enter_private_namespace()
    crash_in_turn(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))

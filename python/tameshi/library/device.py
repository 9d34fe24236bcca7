"""Drive or array in Python, under a plain load in the simulated world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi import devices
from tameshi.core.toml_text import document
from tameshi.library.results import Results
from tameshi.library.study import Study
from tameshi.study.file import StudyFile

LOAD = "load"
STREAM = f"workload.stream.{LOAD}"


@dataclass(frozen=True)
class Device:
    """Profile of a drive or an array, by name or by the path of a profile file."""

    name: str

    def __post_init__(self) -> None:
        devices.find_storage(self.name, "tameshi.Device")

    def study(
        self,
        pattern: str | Sequence[str] = "random",
        depth: int | Sequence[int] = 1,
        *,
        read: float | Sequence[float] = 1.0,
        block_size: str | Sequence[str] = "4 KiB",
        jobs: int = 1,
        time: str = "2 s",
        ramp: str = "200 ms",
        size: str | None = None,
        written: str | None = None,
        repetitions: int = 1,
        seed: int = 1,
    ) -> Study:
        """Return the study of one stream on this drive; each list is an axis.

        `read` is the share of reads from 0 to 1, `size` what is used of the drive, `written` what
        was written to flash before: never, once or steady.
        """
        found = devices.find_storage(self.name, "tameshi.Device")
        stream: dict[str, Any] = {"jobs": jobs}
        axes: dict[str, Any] = {}
        varied = {
            "pattern": pattern,
            "queue_depth": depth,
            "read": _percent(read),
            "block_size": block_size,
        }
        for key, value in varied.items():
            if isinstance(value, Sequence) and not isinstance(value, str):
                axes[key] = {"set": f"{STREAM}.{key}", "levels": list(value)}
            else:
                stream[key] = value
        of_drive = {found.kind: found.name, "size": size, "written": written}
        storage = {key: value for key, value in of_drive.items() if value is not None}
        until = {"time": time}
        settings = {
            "title": f"{found.name} under load",
            "question": f"How does {found.name} answer this load?",
            "axis": axes,
            "storage": {"drive": storage},
            "workload": {"stream": {LOAD: stream}},
            "phase": {"run": {"workload": [f"stream.{LOAD}"], "ramp": ramp, "until": until}},
            "run": {"repetitions": repetitions, "seed": seed, "interval": "100 ms"},
        }
        name = f"device-{found.name}"
        file = StudyFile(name, Path(f"{name}.toml"), document(settings), found.extra)
        return Study(file, name).with_()

    def run(
        self,
        pattern: str | Sequence[str] = "random",
        depth: int | Sequence[int] = 1,
        *,
        read: float | Sequence[float] = 1.0,
        block_size: str | Sequence[str] = "4 KiB",
        jobs: int = 1,
        time: str = "2 s",
        ramp: str = "200 ms",
        size: str | None = None,
        written: str | None = None,
        repetitions: int = 1,
        seed: int = 1,
        out: str | Path | None = None,
        progress: bool = False,
    ) -> Results:
        """Simulate the load of `study`, and return its results."""
        study = self.study(
            pattern,
            depth,
            read=read,
            block_size=block_size,
            jobs=jobs,
            time=time,
            ramp=ramp,
            size=size,
            written=written,
            repetitions=repetitions,
            seed=seed,
        )
        return study.run(out=out, progress=progress)


def _percent(read: float | Sequence[float]) -> str | list[str]:
    """Return shares as a study has them."""
    if isinstance(read, Sequence):
        return [f"{100 * share:g} %" for share in read]
    return f"{100 * read:g} %"

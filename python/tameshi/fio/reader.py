"""Typed access to the settings of one fio job; unsupported settings are refused by name."""

from __future__ import annotations

from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.jobfile import JobText, Setting
from tameshi.fio.keys import NOTED, known, known_engine
from tameshi.fio.values import Percent, bad


class Reader:
    """Settings of a job by key, and notes on them.

    Each method raises `BadInput` at the line of an invalid setting.
    """

    def __init__(self, job: JobText) -> None:
        self.job = job
        self.settings: dict[str, Setting] = {}
        self.notes: list[str] = []
        given = [*job.shared, *job.own]
        engines = [setting for setting in given if setting.key == "ioengine"]
        self.engine = known_engine(engines[-1]) if engines else "psync"
        for setting in given:
            key = known(setting)
            self.settings[key.key] = key
            if key.key in NOTED and off(key) is False:
                note = f"{setting.where}: {setting.key}: {NOTED[key.key]}"
                if note not in self.notes:
                    self.notes.append(note)
        base = self.get("kb_base")
        self.kb_base = values.integer(base) if base else 1024
        if base and self.kb_base not in (1000, 1024):
            raise bad(base, "there are two bases", "1000", "1024")

    def get(self, key: str) -> Setting | None:
        """Return the last setting of a key."""
        return self.settings.get(key)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean."""
        setting = self.get(key)
        return values.flag(setting) if setting else default

    def integer(self, key: str, default: int, least: int = 0) -> int:
        """Return an integer of at least `least`."""
        setting = self.get(key)
        return values.integer(setting, least) if setting else default

    def time_us(self, key: str, unit: str = "s") -> int | None:
        """Return a time in microseconds; `unit` is the unit of a bare number."""
        setting = self.get(key)
        return values.time_us(setting, unit) if setting else None

    def percent_ppm(self, key: str) -> int:
        """Return a share in millionths; absent means 0."""
        setting = self.get(key)
        if setting is None:
            return 0
        percent = values.integer(setting)
        if percent > 100:
            raise bad(setting, "this is more than the whole", "0 to 100")
        return percent * 10_000

    def bytes(self, key: str) -> int | None:
        """Return a size that may not be a share."""
        setting = self.get(key)
        if setting is None:
            return None
        value = values.size(setting, self.kb_base)
        if isinstance(value, Percent):
            raise bad(setting, "a share of the file is not supported here", "a size in bytes")
        return value

    def refuse(self, key: str, why: str) -> BadInput:
        """Return the error of an unsupported setting."""
        setting = self.settings[key]
        message = f"not supported: {why}"
        return BadInput(message, where=setting.where, key=key, found=setting.value or "set")


def off(setting: Setting) -> bool:
    """Return whether a setting switches its feature off."""
    return setting.value in ("0", "false", "none")

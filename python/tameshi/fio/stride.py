"""Sequential fio jobs with gaps or backwards: `rw=read:8k`, `zonemode=strided`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.jobfile import Setting
from tameshi.fio.values import Percent, bad


@dataclass(frozen=True)
class Stride:
    """Runs of `run` bytes, each followed by a gap of `skip` bytes."""

    run: int
    skip: int
    backwards: bool = False
    once: bool = False
    """End the job after one pass over its region, as in a forward read-only job."""

    def table(self) -> str:
        """Return a stream's pattern."""
        way = "true" if self.backwards else "false"
        sizes = f'run = "{self.run} B", skip = "{self.skip} B"'
        return f"{{ strided = {{ {sizes}, backwards = {way} }} }}"

    def bytes_in(self, span: int) -> int:
        """Return the bytes of all requests, one run each, in one pass over `span` bytes."""
        return ((span - self.run) // (self.run + self.skip) + 1) * self.run


def stride_of(setting: Setting, mix: Sequence[tuple[int, int]], kb_base: int) -> Stride | None:
    """Return the gaps of `rw=read:N`; N below zero goes backwards."""
    word, colon, rest = values.text(setting).partition(":")
    if not colon:
        return None
    backwards = rest.startswith("-")
    step = values.size_of(setting, rest.removeprefix("-"), kb_base)
    if not step:
        return None
    if len(mix) > 1:
        raise bad(setting, "steps after requests of several lengths are ambiguous", "one length")
    block = mix[0][0]
    if not backwards:
        return Stride(block, step, once=word == "read")
    if step < 2 * block:
        message = "a step back this short reads the same bytes again"
        raise bad(setting, message, f"twice the block or more: -{2 * block}")
    return Stride(block, step - 2 * block, backwards=True)


def zones_of(settings: Mapping[str, Setting], kb_base: int) -> Stride | None:
    """Return the gaps of `zonemode=strided`; zoned devices are not supported."""

    def length(key: str) -> int | None:
        setting = settings.get(key)
        found = values.size(setting, kb_base) if setting else None
        if setting and isinstance(found, Percent):
            raise bad(setting, "a share of the file is not supported here", "a size in bytes")
        return found if isinstance(found, int) else None

    mode, size = settings.get("zonemode"), length("zonesize")
    word = mode.value if mode else ("strided" if size else "none")
    if word == "none":
        return None
    if mode and word == "zbd":
        message = "zoned devices are not supported"
        raise BadInput(message, where=mode.where, key="zonemode", found="zbd")
    if mode and word != "strided":
        raise bad(mode, "unknown zone mode", "none", "strided")
    if not size:
        assert mode
        raise bad(mode, "the zone size is missing", "zonesize=64m")
    span = length("zonerange")
    if span is not None and span != size:
        message = "not supported: a zone is passed through whole"
        raise BadInput(message, where=settings["zonerange"].where, key="zonerange", found=str(span))
    return Stride(size, length("zoneskip") or 0)

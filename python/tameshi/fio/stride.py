"""Sequential fio jobs that leave parts out or go backwards: `rw=read:8k`, `zonemode=strided`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.jobfile import Setting
from tameshi.fio.values import Percent, bad


@dataclass(frozen=True)
class Stride:
    """Stretches of so many bytes, with so many left out behind each."""

    run: int
    skip: int
    backwards: bool = False
    once: bool = False
    """The job ends when it has come through its part: what only reads forwards meets its end."""

    def table(self) -> str:
        """As a stream's pattern."""
        way = "true" if self.backwards else "false"
        sizes = f'run = "{self.run} B", skip = "{self.skip} B"'
        return f"{{ strided = {{ {sizes}, backwards = {way} }} }}"

    def bytes_in(self, span: int) -> int:
        """Bytes of all requests, each a stretch long, on the way through a part so long."""
        return ((span - self.run) // (self.run + self.skip) + 1) * self.run


def stride_of(setting: Setting, mix: Sequence[tuple[int, int]], kb_base: int) -> Stride | None:
    """What `rw=read:N` leaves out after each request; N below zero goes backwards."""
    word, colon, rest = values.text(setting).partition(":")
    if not colon:
        return None
    backwards = rest.startswith("-")
    step = values.size_of(setting, rest.removeprefix("-"), kb_base)
    if not step:
        return None
    if len(mix) > 1:
        raise bad(setting, "what is left out after requests of several lengths", "one length")
    block = mix[0][0]
    if not backwards:
        return Stride(block, step, once=word == "read")
    if step < 2 * block:
        message = "so short a step back reads again what was read"
        raise bad(setting, message, f"twice the block or more: -{2 * block}")
    return Stride(block, step - 2 * block, backwards=True)


def zones_of(settings: Mapping[str, Setting], kb_base: int) -> Stride | None:
    """What `zonemode=strided` leaves out; zoned devices are not driven."""

    def length(key: str) -> int | None:
        setting = settings.get(key)
        found = values.size(setting, kb_base) if setting else None
        if setting and isinstance(found, Percent):
            raise bad(setting, "a share of the file can't be carried out here", "a size in bytes")
        return found if isinstance(found, int) else None

    mode, size = settings.get("zonemode"), length("zonesize")
    word = mode.value if mode else ("strided" if size else "none")
    if word == "none":
        return None
    if mode and word == "zbd":
        message = "this can't be carried out: zoned devices are not driven"
        raise BadInput(message, where=mode.where, key="zonemode", found="zbd")
    if mode and word != "strided":
        raise bad(mode, "there is no such mode", "none", "strided")
    if not size:
        assert mode
        raise bad(mode, "how long a zone is must be said", "zonesize=64m")
    span = length("zonerange")
    if span is not None and span != size:
        message = "this can't be carried out: a zone is passed through whole"
        raise BadInput(message, where=settings["zonerange"].where, key="zonerange", found=str(span))
    return Stride(size, length("zoneskip") or 0)

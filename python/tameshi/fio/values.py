"""Parsers of values: sizes, times, numbers per direction, ranges, mixes, lists of files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tameshi.core.errors import BadInput
from tameshi.fio.jobfile import Setting

WHOLE_PPM = 1_000_000
_NUMBER = re.compile(r"(0x[0-9a-f]+|\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_PREFIXES = "kmgtp"
_TIMES_US = {
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "sec": 1_000_000,
    "ms": 1_000,
    "msec": 1_000,
    "us": 1,
    "usec": 1,
}


@dataclass(frozen=True)
class Percent:
    """Share of a size that is not known yet, in per cent."""

    percent: int


def bad(setting: Setting, message: str, *accepted: str) -> BadInput:
    """Return the error of a value at its place."""
    found = "no value" if setting.value is None else setting.value
    return BadInput(
        message, where=setting.where, key=setting.own_key, found=found, accepted=list(accepted)
    )


def text(setting: Setting) -> str:
    """Return a required value."""
    if not setting.value:
        raise bad(setting, "this key needs a value", f"{setting.own_key}=VALUE")
    return setting.value


def flag(setting: Setting) -> bool:
    """Return a boolean; a bare key is true."""
    match (setting.value or "1").lower():
        case "1" | "true":
            return True
        case "0" | "false":
            return False
    raise bad(setting, "neither true nor false", "0", "1")


def integer(setting: Setting, least: int = 0) -> int:
    """Return an integer with an optional suffix (`1k` is 1024)."""
    return _at_least(setting, size_of(setting, text(setting), 1024), least)


def number(setting: Setting) -> float:
    """Return a decimal number."""
    try:
        return float(text(setting))
    except ValueError:
        raise bad(setting, "not a number", "a number such as 1.2") from None


def size(setting: Setting, kb_base: int) -> int | Percent:
    """Return bytes, or a share such as `50%`."""
    value = text(setting)
    if value.endswith("%"):
        percent = value[:-1]
        if not percent.isdigit() or not 0 <= int(percent) <= 100:
            raise bad(setting, "not a share", "0% to 100%")
        return Percent(int(percent))
    return size_of(setting, value, kb_base)


def size_of(setting: Setting, value: str, kb_base: int) -> int:
    """Return bytes; `k` is 1024 and `ki` 1000, or the reverse with kb_base 1000."""
    match = _NUMBER.fullmatch(value.strip())
    factor = _size_factor(match[2].lower(), kb_base) if match else None
    if not match or factor is None:
        raise bad(setting, f"`{value}` is not a size", "a number with an optional k, m, g, t or p")
    digits = match[1].lower()
    amount = Fraction(int(digits, 16)) if digits.startswith("0x") else Fraction(digits)
    if (amount * factor).denominator != 1:
        raise bad(setting, f"`{value}` is not a whole number of bytes")
    return int(amount * factor)


def _size_factor(suffix: str, kb_base: int) -> int | None:
    suffix = suffix.removesuffix("b") if suffix != "b" else ""
    if suffix == "":
        return 1
    prefix, binary = suffix[0], suffix[1:]
    if prefix not in _PREFIXES or binary not in ("", "i"):
        return None
    other = 1000 if kb_base == 1024 else 1024
    return int((kb_base if not binary else other) ** (_PREFIXES.index(prefix) + 1))


def time_us(setting: Setting, unit: str = "s") -> int:
    """Return microseconds; `unit` is the unit of a bare number."""
    return time_of(setting, text(setting), unit)


def time_of(setting: Setting, value: str, unit: str) -> int:
    """Return one time in microseconds."""
    match = _NUMBER.fullmatch(value.strip())
    factor = _TIMES_US.get(match[2].lower() or unit) if match else None
    if not match or factor is None or match[1].lower().startswith("0x"):
        accepted = "a number with an optional d, h, m, s, ms or us"
        raise bad(setting, f"`{value}` is not a time", accepted)
    amount = Fraction(match[1]) * factor
    if amount.denominator != 1:
        raise bad(setting, f"`{value}` is finer than a microsecond")
    return int(amount)


def directions(setting: Setting) -> tuple[str, str, str]:
    """Return the parts of `r,w,t` for reads, writes and trims; a missing part repeats the previous
    one.

    An empty part is explicit: `,8k` applies to writes and not to reads.
    """
    parts = [part.strip() for part in text(setting).split(",")]
    if len(parts) > 3:
        raise bad(setting, "at most three values: reads, writes and trims", "READ,WRITE,TRIM")
    while len(parts) < 3:
        parts.append(parts[-1])
    return parts[0], parts[1], parts[2]


def size_range(setting: Setting, value: str, kb_base: int) -> tuple[int, int]:
    """Return `a-b`, or one size as both bounds."""
    parts = re.split("[-:]", value)
    if len(parts) > 2:
        raise bad(setting, f"`{value}` is not a range", "LOW-HIGH")
    ends = sorted(size_of(setting, part, kb_base) for part in parts)
    return ends[0], ends[-1]


def block_mix(setting: Setting, value: str, kb_base: int) -> list[tuple[int, int]]:
    """Return `4k/60:8k/30:64k/` as sizes with millionths; blank shares divide the rest evenly."""
    parts: list[tuple[int, Fraction | None]] = []
    for part in value.split(":"):
        length, _, percent = part.partition("/")
        if percent and not re.fullmatch(r"\d+(\.\d+)?", percent):
            raise bad(setting, f"`{percent}` is not a percentage", "SIZE/PERCENT:SIZE/PERCENT")
        share = Fraction(percent) * 10_000 if percent else None
        parts.append((size_of(setting, length, kb_base), share))
    shares = shared_rest(setting, [share for _, share in parts])
    return [(length, share) for (length, _), share in zip(parts, shares, strict=True) if share]


def shared_rest(setting: Setting, shares: list[Fraction | None]) -> list[int]:
    """Return millionths with the sum of a whole; blank shares divide the rest evenly."""
    given = sum((share for share in shares if share is not None), Fraction(0))
    blank = shares.count(None)
    if given > WHOLE_PPM or (given < WHOLE_PPM and not blank):
        raise bad(setting, f"these shares add up to {float(given) / 1e4:g} %", "100 %")
    rest = (WHOLE_PPM - given) / blank if blank else Fraction(0)
    millionths = [int(rest if share is None else share) for share in shares]
    millionths[-1 if shares[-1] is None else millionths.index(max(millionths))] += WHOLE_PPM - sum(
        millionths
    )
    return millionths


def even_mix(low: int, high: int) -> list[tuple[int, int]]:
    """Return every multiple of `low` up to `high` with even shares, as fio draws from a range."""
    lengths = list(range(low, high + 1, low))
    each, over = divmod(WHOLE_PPM, len(lengths))
    return [(length, each + (place < over)) for place, length in enumerate(lengths)]


def zones(setting: Setting, value: str) -> list[tuple[int, int]]:
    """Return `50/5:30/15:20/` as millionths of accesses and of the span; blank shares divide the
    rest."""
    accesses: list[Fraction | None] = []
    spans: list[Fraction | None] = []
    for part in value.split(":"):
        access, _, span = part.partition("/")
        for given, into in ((access, accesses), (span, spans)):
            if given and not re.fullmatch(r"\d+(\.\d+)?", given):
                raise bad(setting, f"`{given}` is not a percentage", "zoned:ACCESSES/SPAN:…")
            into.append(Fraction(given) * 10_000 if given else None)
    return list(
        zip(shared_rest(setting, accesses), shared_rest(setting, spans), strict=True),
    )


def files(setting: Setting) -> list[str]:
    r"""Return the names in `a:b`; a colon inside a name is written `\\:`."""
    parts = re.split(r"(?<!\\):", text(setting))
    return [part.replace("\\:", ":") for part in parts if part]


def percentiles(setting: Setting) -> list[float]:
    """Return the numbers in `50:99:99.9`."""
    try:
        numbers = [float(part) for part in text(setting).split(":")]
    except ValueError:
        numbers = []
    if not numbers or len(numbers) > 20 or not all(0 < each <= 100 for each in numbers):
        raise bad(
            setting, "invalid percentiles", "up to 20 numbers from 0 to 100, for example 99:99.9"
        )
    return sorted(numbers)


def _at_least(setting: Setting, value: int, least: int) -> int:
    if value < least:
        raise bad(setting, "below the minimum", f"{least} or more")
    return value

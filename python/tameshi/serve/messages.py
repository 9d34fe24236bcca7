"""Messages of `tameshi serve ctl`, as their words and as the drive's server reads them."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed

FORMS = (
    "cut",
    "fail MEMBER",
    "replace MEMBER",
    "slow FACTOR [SECONDS]",
    "corrupt KIND OFFSET LENGTH",
    "failover",
    "take-back",
    "link cut|heal",
    "status",
    "reset",
)
CORRUPTIONS = ("error", "flip", "misdirect")
MOST_SLOW = 1000
MOST_SECONDS = 1_000_000


def parse_message(words: Sequence[str]) -> str:
    """Return a message as the server reads it; raise `BadInput` for none."""
    match list(words):
        case ["cut" | "status" | "reset" as word]:
            return word
        case ["fail" | "replace" as word, member] if member.isdecimal():
            return f"{word} {member}"
        case ["failover" | "take-back" as word]:
            return {"failover": "fail_over", "take-back": "take_back"}[word]
        case ["link", "cut" | "heal" as change]:
            return f"link {change}"
        case ["slow", factor]:
            return f"slow {_factor(factor)}"
        case ["slow", factor, seconds]:
            return f"slow {_factor(factor)} {_seconds_ns(seconds)}"
        case ["corrupt", kind, offset, length]:
            return f"corrupt {_kind(kind)} {_bytes(offset)} {_bytes(length)}"
    found = " ".join(words)
    raise BadInput("unknown message", where="serve ctl", found=found, accepted=FORMS)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _factor(text: str) -> float:
    factor = round(_number(text), 3)
    if not 1 <= factor <= MOST_SLOW:
        accepted = [f"a factor from 1 to {MOST_SLOW}; 1 ends it"]
        raise BadInput("unknown slowdown", where="serve ctl slow", found=text, accepted=accepted)
    return factor


def _seconds_ns(text: str) -> int:
    seconds = _number(text)
    if not 0 < seconds <= MOST_SECONDS:
        accepted = [f"more than 0 and at most {MOST_SECONDS:,} s"]
        message = "unknown time of a slowdown"
        raise BadInput(message, where="serve ctl slow", found=text, accepted=accepted)
    return round(seconds * 1e9)


def _kind(text: str) -> str:
    if text not in CORRUPTIONS:
        message = "unknown kind of corruption"
        raise BadInput(message, where="serve ctl corrupt", found=text, accepted=CORRUPTIONS)
    return text


def _bytes(text: str) -> int:
    try:
        return int(text) if text.isdecimal() else compiled.size_bytes(text)
    except RunFailed as error:
        accepted = ["bytes, such as 4096 or 4KiB"]
        where = "serve ctl corrupt"
        raise BadInput(error.message, where=where, found=text, accepted=accepted) from None

"""Messages of `tameshi hosts link`, as their words and as the forwarding process reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed
from tameshi.hosts.plans import (
    LEAST_RATE_BYTES,
    MOST_RATE_BYTES,
    MOST_ROUND_TRIP_NS,
)

FORMS = ("cut", "heal", "loss SHARE", "rate SIZE", "round-trip TIME", "slow FACTOR")
WHERE = "hosts link"
MOST_SLOW = 1000


def parse_change(words: Sequence[str]) -> str:
    """Return a change of a link; raise `BadInput` for none."""
    match list(words):
        case ["cut" | "heal" as word]:
            return word
        case ["loss", share]:
            return f"loss {share_of_packets(share, f'{WHERE} loss')!r}"
        case ["rate", size]:
            return f"rate {rate_of(size, f'{WHERE} rate')}"
        case ["round-trip", time]:
            return f"round_trip {round_trip_of(time, f'{WHERE} round-trip')}"
        case ["slow", factor]:
            return f"slow {factor_of(factor)}"
    found = " ".join(words)
    raise BadInput("unknown change of a link", where=WHERE, found=found, accepted=FORMS)


def share_of_packets(text: str, where: str) -> float:
    """Return a share of packets: `1%`, `1 %` or `0.01`; raise `BadInput` for none."""
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        accepted = ["a share such as 1%, from 0 % to below 100 %; `cut` carries nothing"]
        raise BadInput("no link loses this share", where=where, found=text, accepted=accepted)
    return share


def rate_of(text: str, where: str) -> int:
    """Return a rate in bytes of data per second; raise `BadInput` for none."""
    return _within(
        text, where, compiled.size_bytes, (LEAST_RATE_BYTES, MOST_RATE_BYTES), "1MB to 90GB"
    )


def round_trip_of(text: str, where: str) -> int:
    """Return a round trip in ns; raise `BadInput` for none."""
    if text == "0":
        return 0
    return _within(text, where, compiled.nanoseconds, (0, MOST_ROUND_TRIP_NS), "0 to 1s")


def _within(
    text: str, where: str, read: Callable[[str], int], limits: tuple[int, int], accepted: str
) -> int:
    message = "no link has this figure"
    try:
        value = read(text)
    except RunFailed as error:
        value, message = -1, error.message
    if not limits[0] <= value <= limits[1]:
        raise BadInput(message, where=where, found=text, accepted=[accepted])
    return value


def factor_of(text: str, where: str = f"{WHERE} slow") -> float:
    """Return the factor of a slow link; raise `BadInput`."""
    try:
        factor = round(float(text), 3)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= MOST_SLOW:
        accepted = [f"a factor from 1 to {MOST_SLOW}; 1 ends it"]
        message = "unknown slowdown of a link"
        raise BadInput(message, where=where, found=text, accepted=accepted)
    return factor

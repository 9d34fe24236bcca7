"""Question of `tameshi ask`: target, range of buffer pools, storages, and their costs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.ask.catalog import Catalog
from tameshi.ask.pool_search import doubled_sizes
from tameshi.core.errors import BadInput
from tameshi.core.option_values import size_of
from tameshi.study.file import profiles, written_out
from tameshi.study.least import LOG

MEMORY, ENERGY, YEARS = "memory", "energy", "years"
"""Priced items besides storages: a GiB of buffer pool, a kWh, and the years of operation."""
ARRAYS = ("raid0", "raid1", "raid10", "raid5")
WORKLOADS = ("tpcc", "oltp", "key_update")
ENGINES = ("mysql", "mariadb")
RANGE = ".."
GIB = 1 << 30
ROW_BYTES = 300
"""Default row size of key_update."""
HOURS_A_YEAR = 8766
WATT_KILO = 1000
MOST_NAMED = 5


@dataclass(frozen=True)
class Storage:
    """Storage of the question: name, and table as in a study.

    `holds`: capacity at full size, if it limits a run.
    """

    name: str
    stack: Mapping[str, Any]
    holds: int | None = None


@dataclass(frozen=True)
class Costs:
    """Prices in any one currency, and watts, by storage and `memory` (per GiB)."""

    price: Mapping[str, float] = field(default_factory=dict)
    watts: Mapping[str, float] = field(default_factory=dict)

    @property
    def priced(self) -> bool:
        """Return whether anything has a price."""
        return bool(self.price.keys() - {YEARS})


@dataclass(frozen=True)
class Varied:
    """Uncertain input: least and greatest value."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Question:
    """Complete question; sizes in bytes, times in ns, rates per second."""

    database_bytes: int
    pools: tuple[int, int]
    storages: tuple[Storage, ...]
    target_qps: float
    target_p99_ns: int | None
    workload: str
    clients: int
    engine: str
    version: str | None
    host: str
    redo_bytes: int
    row_bytes: int
    start: str
    time_ns: int
    ramp_ns: int | None
    scale: int | None
    repetitions: int
    costs: Costs
    varied: tuple[Varied, ...]
    listed_pools: tuple[int, ...] = ()
    """Buffer pools that the question lists, in ascending order; empty for a range."""

    @property
    def first_pools(self) -> list[int]:
        """Return the buffer pools to simulate first: those listed, or the range by doubling."""
        return list(self.listed_pools) or doubled_sizes(*self.pools)


def pools_of(option: str, text: str) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Parse `8GB..64GB`, or a list such as `8GB,24GB`, into its bounds and the sizes listed.

    Raises `BadInput`. One size alone is a range.
    """
    words = text.split(",")
    if len(words) == 1:
        return bounds_of(option, text), ()
    ranged = next((word for word in words if RANGE in word), None)
    if ranged is not None:
        accepted = ["a list of sizes such as 8GB,24GB,64GB", "a range alone, such as 8GB..64GB"]
        message = "a list of buffer pools can't hold a range"
        raise BadInput(message, where=option, found=ranged.strip(), accepted=accepted)
    sizes = sorted({size_of(option, word.strip()) for word in words})
    return (sizes[0], sizes[-1]), tuple(sizes)


def bounds_of(option: str, text: str) -> tuple[int, int]:
    """Parse `8GB..64GB` into bytes, or one size as both bounds; raise `BadInput`."""
    first, dots, last = text.partition(RANGE)
    if dots and not (first.strip() and last.strip()):
        message = "this range has no " + ("end" if first.strip() else "begin")
        raise BadInput(message, where=option, found=text, accepted=["a range such as 8GB..64GB"])
    low = size_of(option, first.strip())
    high = size_of(option, last.strip()) if dots else low
    if low > high:
        accepted = ["the smaller size first, for example 8GB..64GB"]
        raise BadInput("this range is reversed", where=option, found=text, accepted=accepted)
    return low, high


def storages_of(option: str, text: str, catalog: Catalog) -> tuple[Storage, ...]:
    """Resolve names of a catalog, profiles of devices and arrays, or `raid10:6:sas-15k-146gb`."""
    storages = [_storage(option, word.strip(), catalog) for word in text.split(",")]
    names = [each.name for each in storages]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise BadInput("this storage is named twice", where=option, found=twice)
    return tuple(storages)


def plain(word: str) -> str:
    """Return a storage's name in the form of a study: `es3000-1.2t` becomes `es3000-1-2t`."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", word)


def _storage(option: str, word: str, catalog: Catalog) -> Storage:
    own = catalog.storages
    known, arrays = ({name for name, _, _ in profiles(kind)} for kind in ("devices", "arrays"))
    if word in own:
        return Storage(word, _written_out(word, catalog))
    if word in known:
        return Storage(plain(word), {"device": word})
    if word in arrays:
        return Storage(plain(word), written_out({"array": word}))
    level, _, rest = word.partition(":")
    members, _, device = rest.partition(":")
    if level in ARRAYS and members.isdigit() and device in known:
        return Storage(plain(word), {level: {"members": int(members), "device": device}})
    wanted = device or word
    named = sorted(known | arrays)
    alike = [name for name in named if wanted[:3] and wanted[:3] in name][:MOST_NAMED]
    listed = "a profile of a device or an array (`tameshi devices` lists them)"
    form = f"an array, {'|'.join(ARRAYS)}:MEMBERS:PROFILE"
    accepted = [*own, *(alike or [listed]), form]
    raise BadInput("no such storage", where=option, found=word, accepted=accepted)


def _written_out(name: str, catalog: Catalog) -> dict[str, Any]:
    """Return a storage of a catalog with stacks in place of array profiles."""
    try:
        return written_out(catalog.storages[name])
    except BadInput as error:
        key = _key_of_array(f"storage.{name}", catalog.storages[name], error.found)
        raise BadInput(
            error.message,
            where=catalog.place(key),
            key=key,
            found=error.found,
            accepted=error.accepted,
        ) from None


def _key_of_array(key: str, stack: Mapping[str, Any], name: str) -> str:
    """Return the key that names an array profile, in a stack below a key."""
    if str(stack.get("array")) == name:
        return f"{key}.array"
    below = (
        (f"{key}.{field}", inner) for field, inner in stack.items() if isinstance(inner, Mapping)
    )
    keys = (_key_of_array(field, inner, name) for field, inner in below)
    return next((each for each in keys if each.endswith(".array")), key)


def costs_of(
    storages: Sequence[Storage],
    catalog: Catalog,
    prices: Sequence[str],
    powers: Sequence[str],
) -> Costs:
    """Return costs from options, then from the catalog; raise `BadInput`."""
    names = [storage.name for storage in storages]
    extra = {"price": [MEMORY, ENERGY, YEARS], "power": [MEMORY]}
    tables: dict[str, dict[str, float]] = {}
    for section, given in (("price", prices), ("power", powers)):
        known = [*names, *extra[section]]
        kept = {*catalog.storages, *known}
        table = dict(catalog.tables.get(section, {}))
        for name, value in table.items():
            key = f"{section}.{name}"
            if name not in kept:
                message = "neither a storage nor another priced item"
                where, accepted = catalog.place(key), sorted(kept)
                raise BadInput(message, where=where, key=key, accepted=accepted)
            table[name] = _amount(f"{catalog.place(key)}: {key}", str(value))
        for text in given:
            word, equals, value = text.rpartition("=")
            name = plain(word)
            if not equals or name not in known:
                accepted = [f"NAME=NUMBER, NAME one of {', '.join(known)}"]
                message = "this item has no price in the question"
                raise BadInput(message, where=f"--{section}", found=text, accepted=accepted)
            table[name] = _amount(f"--{section}", value, text)
        tables[section] = {name: value for name, value in table.items() if name in known}
    costs = Costs(tables["price"], tables["power"])
    years = next((text for text in prices if plain(text.rpartition("=")[0]) == YEARS), None)
    if years and ENERGY not in costs.price:
        message = "`years` needs a price of energy"
        raise BadInput(message, where="--price", found=years, accepted=["--price energy=NUMBER"])
    _require_all_prices(costs, names)
    return costs


def _amount(where: str, value: str, text: str = "") -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise BadInput(
            "not an amount",
            where=where,
            found=text or value,
            accepted=["a number, zero or more"],
        )
    return number


def _require_all_prices(costs: Costs, names: Sequence[str]) -> None:
    """Require a price of every storage or of none: otherwise the cheapest is unknown."""
    without = [name for name in names if name not in costs.price]
    if costs.priced and without:
        message = "if anything has a price, every storage needs one"
        accepted = [f"--price {without[0]}=NUMBER"]
        raise BadInput(message, where="--price", found=f"none of {without[0]}", accepted=accepted)


INPUTS = {"redo_log": "a size", "clients": "a whole number", "row_size": "a factor"}
"""Inputs that may change the answer, with the kind of their values."""


def varied_of(option: str, given: Sequence[str], question: Mapping[str, float]) -> list[Varied]:
    """Return uncertain inputs with their ranges; the default is half to twice, rows 0.8 to 1.25
    times.

    The lower default bound is raised to the least log that a server accepts.
    """
    log = question["redo_log"]
    least_log = min(log, LOG * question.get("scale", 1))
    ranges = {
        "redo_log": Varied("redo_log", max(log // 2, least_log), log * 2),
        "clients": Varied("clients", max(question["clients"] // 2, 1), question["clients"] * 2),
        "row_size": Varied("row_size", 0.8, 1.25),
    }
    for text in given:
        name, _, values = text.partition("=")
        low, dots, high = values.partition(RANGE)
        if name not in INPUTS or not dots:
            accepted = [f"{name}=LOW..HIGH, {kind} each" for name, kind in INPUTS.items()]
            raise BadInput("this input cannot vary", where=option, found=text, accepted=accepted)
        read = {"redo_log": size_of, "clients": _count, "row_size": _factor}[name]
        ends = read(option, low.strip()), read(option, high.strip())
        if ends[0] >= ends[1]:
            accepted = ["the smaller value first"]
            raise BadInput("this range is reversed", where=option, found=text, accepted=accepted)
        ranges[name] = Varied(name, *ends)
    return list(ranges.values())


def _count(option: str, text: str) -> int:
    if not text.isdigit() or not int(text):
        accepted = ["a whole number above zero"]
        raise BadInput("not a number of clients", where=option, found=text, accepted=accepted)
    return int(text)


def _factor(option: str, text: str) -> float:
    value = _amount(option, text)
    if not 0.1 <= value <= 10:
        accepted = ["a factor from 0.1 to 10"]
        raise BadInput("this is out of range", where=option, found=text, accepted=accepted)
    return value

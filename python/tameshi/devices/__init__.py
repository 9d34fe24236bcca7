"""Profiles of drives, arrays, hosts and links, and the simulated behaviour of drives and arrays."""

from tameshi.devices.behaviour import Behaviour, behaviour
from tameshi.devices.depths import ByDepth, by_depth
from tameshi.devices.progress import progress_bar
from tameshi.devices.show import (
    array_as_json,
    as_json,
    html,
    listing,
    listing_arrays,
    listing_plain,
    plain_as_json,
    render,
    render_plain,
)
from tameshi.devices.values import (
    KINDS,
    Array,
    Described,
    Plain,
    Storage,
    Value,
    arrays,
    described,
    drives,
    find,
    find_array,
    find_plain,
    find_storage,
    plain,
)
from tameshi.devices.words import LANGUAGES

__all__ = [
    "KINDS",
    "LANGUAGES",
    "Array",
    "Behaviour",
    "ByDepth",
    "Described",
    "Plain",
    "Storage",
    "Value",
    "array_as_json",
    "arrays",
    "as_json",
    "behaviour",
    "by_depth",
    "described",
    "drives",
    "find",
    "find_array",
    "find_plain",
    "find_storage",
    "html",
    "listing",
    "listing_arrays",
    "listing_plain",
    "plain",
    "plain_as_json",
    "progress_bar",
    "render",
    "render_plain",
]

"""Profiles of drives, hosts and links as people and programs read them, and what a drive does."""

from tameshi.devices.behaviour import Behaviour, behaviour
from tameshi.devices.show import (
    as_json,
    html,
    listing,
    listing_plain,
    plain_as_json,
    render,
    render_plain,
)
from tameshi.devices.values import (
    KINDS,
    Described,
    Plain,
    Value,
    described,
    find,
    find_plain,
    names,
    plain,
)
from tameshi.devices.words import LANGUAGES

__all__ = [
    "KINDS",
    "LANGUAGES",
    "Behaviour",
    "Described",
    "Plain",
    "Value",
    "as_json",
    "behaviour",
    "described",
    "find",
    "find_plain",
    "html",
    "listing",
    "listing_plain",
    "names",
    "plain",
    "plain_as_json",
    "render",
    "render_plain",
]

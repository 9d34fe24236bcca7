"""Device profiles as people and programs read them, and what the simulated drive does."""

from tameshi.devices.behaviour import Behaviour, behaviour
from tameshi.devices.show import as_json, html, listing, render
from tameshi.devices.values import Described, Value, described, find, names
from tameshi.devices.words import LANGUAGES

__all__ = [
    "LANGUAGES",
    "Behaviour",
    "Described",
    "Value",
    "as_json",
    "behaviour",
    "described",
    "find",
    "html",
    "listing",
    "names",
    "render",
]

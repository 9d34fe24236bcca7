"""Locked packages run on the Python that the README promises."""

from importlib.metadata import distributions

from packaging.specifiers import SpecifierSet

DEBIANS = "3.11.2"
"""Python of Debian 12, on which a checkout is set up."""


def test_locked_packages_run_on_debians_python() -> None:
    asked = {
        found.metadata["Name"]: found.metadata.get("Requires-Python") for found in distributions()
    }
    refused = {
        name: wanted
        for name, wanted in asked.items()
        if wanted and not SpecifierSet(wanted).contains(DEBIANS)
    }
    assert len(asked) > 50 and refused == {}

"""Options that several commands have, and checks of options' values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from tameshi.core.errors import BadInput

LangOption = Annotated[str, typer.Option("--lang", help="Language of the report: en or ja.")]


def check_word(option: str, found: str, accepted: Sequence[str]) -> None:
    """Raise `BadInput` for an option's value that is none of its few words."""
    if found not in accepted:
        raise BadInput("there is no such choice", where=option, found=found, accepted=accepted)


def check_language(lang: str) -> None:
    """Raise `BadInput` for a language that reports don't speak."""
    if lang not in ("en", "ja"):
        raise BadInput(
            "reports don't speak this language", where="--lang", found=lang, accepted=["en", "ja"]
        )

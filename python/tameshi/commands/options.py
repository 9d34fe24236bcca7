"""Options shared by several commands, and checks of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from tameshi.core.errors import BadInput

LangOption = Annotated[str, typer.Option("--lang", help="Language of the report: en or ja.")]


def check_word(option: str, found: str, accepted: Sequence[str]) -> None:
    """Raise `BadInput` unless an option's value is one of the accepted words."""
    if found not in accepted:
        raise BadInput("unknown value", where=option, found=found, accepted=accepted)


def check_language(lang: str) -> None:
    """Raise `BadInput` for a language without reports."""
    if lang not in ("en", "ja"):
        raise BadInput(
            "no report exists in this language", where="--lang", found=lang, accepted=["en", "ja"]
        )

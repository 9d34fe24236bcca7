"""Encryption of connections to a server of the user, as the connection string asks."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput

MODES = {
    "disable": "disable",
    "disabled": "disable",
    "prefer": "prefer",
    "preferred": "prefer",
    "require": "require",
    "required": "require",
    "verify-ca": "verify_ca",
    "verify_ca": "verify_ca",
    "verify-full": "verify_full",
    "verify_identity": "verify_full",
}
"""Modes by the words of libpq's `sslmode` and MySQL's `ssl-mode`."""
PARAMETERS = {"sslmode": "mode", "ssl-mode": "mode", "sslrootcert": "ca", "ssl-ca": "ca"}
_VERIFYING = ("verify_ca", "verify_full")


@dataclass(frozen=True)
class Tls:
    """Mode, and the PEM file of the authorities that a verifying mode trusts."""

    mode: str = "prefer"
    authorities: Path | None = None

    @property
    def verifies(self) -> bool:
        """Return whether the server's certificate is verified."""
        return self.mode in _VERIFYING

    def context(self) -> ssl.SSLContext | None:
        """Return the context of a mode that needs encryption; None for the others.

        Raises `OSError` for an unreadable file of authorities.
        """
        if self.mode in ("disable", "prefer"):
            return None
        context = ssl.create_default_context(cafile=self.authorities)
        context.check_hostname = self.mode == "verify_full"
        context.verify_mode = ssl.CERT_REQUIRED if self.verifies else ssl.CERT_NONE
        return context

    def as_json(self) -> dict[str, Any]:
        """Return the entry for the database driver."""
        found = {"authorities": str(self.authorities)} if self.authorities else {}
        return {"mode": self.mode, **found}


def tls_of(parameters: Mapping[str, str], key: str) -> Tls:
    """Return the encryption that parameters of a connection string ask for; raise `BadInput`."""
    given = {PARAMETERS[name]: value for name, value in parameters.items() if name in PARAMETERS}
    word = given.get("mode", "prefer")
    mode = MODES.get(word.lower())
    if mode is None:
        raise BadInput("unknown mode of TLS", key=key, found=word, accepted=list(MODES))
    tls = Tls(mode, Path(given["ca"]) if "ca" in given else None)
    if tls.verifies and not (tls.authorities and tls.authorities.is_file()):
        raise BadInput(
            "this mode of TLS needs the certificates of the authorities to trust",
            key=key,
            found=str(tls.authorities or "no file"),
            accepted=["sslrootcert=FILE or ssl-ca=FILE, an existing PEM file"],
        )
    return tls

"""Account of a server: its package's user if Tameshi is root, else Tameshi's own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.errors import BadInput, GuardRefusal
from tameshi.servers.product import Product


@dataclass(frozen=True)
class Account:
    """User of this machine; all fields None for Tameshi's own."""

    name: str = ""
    uid: int = -1
    gid: int = -1

    def own(self, path: Path) -> None:
        """Give a folder or file to the account; do nothing for Tameshi's own."""
        if self.name:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def running(self, command: Sequence[str]) -> list[str]:
        """Return the command as this account, killed by the kernel when its starter ends.

        The starter is a *thread*: it has to live as long as the server.
        """
        return self._setpriv(["--pdeathsig=KILL"], command)

    def starting(self, command: Sequence[str]) -> list[str]:
        """Return the command as this account, for a shell of the user."""
        return self._setpriv([], command) if self.name else list(command)

    def _setpriv(self, options: Sequence[str], command: Sequence[str]) -> list[str]:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise BadInput(
                "setpriv starts private servers, and is not installed",
                hint="On Debian: apt-get install util-linux",
            )
        become = (
            [f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups"] if self.name else []
        )
        return [setpriv, *options, *become, "--", *command]


def account_of(product: Product) -> Account:
    """Return the account of a product's server. Raise `BadInput` if root finds no account for
    it."""
    if os.geteuid() != 0 or not product.account:
        return Account()
    try:
        entry = pwd.getpwnam(product.account)
    except KeyError:
        raise BadInput(
            f"{product.title} refuses to run as root, and its own user does not exist",
            found=f"no user `{product.account}`",
            hint=f"Start Tameshi as an ordinary user. {product.remedy}",
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def require_reach(account: Account, folder: Path) -> None:
    """Refuse a folder in which the account may not work, and name the obstacle."""
    require_passage(account, folder, "-w")


def require_passage(account: Account, folder: Path, last: str = "-x") -> None:
    """Refuse a folder that the account may not enter (or lacks the access in `last`)."""
    if not account.name:
        return
    for place in (*reversed(folder.parents), folder):
        mode = last if place == folder else "-x"
        asked = account.running(["test", mode, str(place)])
        if subprocess.run(asked, stdin=subprocess.DEVNULL, check=False).returncode:
            raise GuardRefusal(
                f"the server's user `{account.name}` has no access to this directory",
                where=str(folder),
                found=f"{place} is closed to this user",
                accepted=["a directory that every user may enter"],
                hint=f"chmod o+x {place}, or bind another directory.",
            )

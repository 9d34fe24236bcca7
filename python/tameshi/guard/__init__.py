"""The only door through which Tameshi writes to, or deletes, a storage target or a folder.

It lets through what Tameshi made itself and marked as its own, and refuses everything else. A
target file begins with a header that names it as Tameshi's; a folder holds `.tameshi-owned`.
Every check that precedes a write or a deletion is made on an open descriptor, so that nothing can
be exchanged between the check and the deed. `docs/guard.md` holds the whole decision table.
"""

from tameshi.guard.folders import (
    MARKER,
    append_file,
    claim_folder,
    remove_folder,
    write_file,
)
from tameshi.guard.targets import (
    DATA_OFFSET,
    RESERVE_BYTES,
    Header,
    OpenTarget,
    TargetPlan,
    check_target,
    mark_laid_out,
    open_target,
    remove_target,
)

__all__ = [
    "DATA_OFFSET",
    "MARKER",
    "RESERVE_BYTES",
    "Header",
    "OpenTarget",
    "TargetPlan",
    "append_file",
    "check_target",
    "claim_folder",
    "mark_laid_out",
    "open_target",
    "remove_folder",
    "remove_target",
    "write_file",
]

"""Only door through which Tameshi writes to or deletes a storage target or folder.

It accepts targets that Tameshi made and marked, and unused targets that the user named with
`--destroy`; it refuses everything else. A target file starts with a header of Tameshi's; a folder
holds `.tameshi-owned`. Each check before a write or deletion is made on an open descriptor, so that
nothing can be exchanged between check and write. `docs/guard.md` holds the whole decision table.
"""

from tameshi.guard.devices import Device, Machine
from tameshi.guard.directories import (
    DirectoryPlan,
    check_data_directory,
    claim_data_directory,
    empty_data_directory,
    open_data_directory,
)
from tameshi.guard.folders import (
    MARKER,
    append_file,
    claim_folder,
    move_folder,
    remove_file,
    remove_folder,
    write_file,
)
from tameshi.guard.handles import size_text, translated
from tameshi.guard.header import DATA_OFFSET, Header
from tameshi.guard.outputs import write_output
from tameshi.guard.plans import TargetPlan, check_target, check_targets, refuse_unused
from tameshi.guard.reading import ReadableTarget, open_to_read
from tameshi.guard.space import MEMORY_RESERVE_BYTES, RESERVE_BYTES, Need, require_space
from tameshi.guard.targets import OpenTarget, mark_laid_out, open_target, remove_target
from tameshi.guard.volumes import SMALLEST_BYTES as SMALLEST_VOLUME_BYTES
from tameshi.guard.volumes import Volume, check_volume

__all__ = [
    "DATA_OFFSET",
    "MARKER",
    "MEMORY_RESERVE_BYTES",
    "RESERVE_BYTES",
    "SMALLEST_VOLUME_BYTES",
    "Device",
    "DirectoryPlan",
    "Header",
    "Machine",
    "Need",
    "OpenTarget",
    "ReadableTarget",
    "TargetPlan",
    "Volume",
    "append_file",
    "check_data_directory",
    "check_target",
    "check_targets",
    "check_volume",
    "claim_data_directory",
    "claim_folder",
    "empty_data_directory",
    "mark_laid_out",
    "move_folder",
    "open_data_directory",
    "open_target",
    "open_to_read",
    "refuse_unused",
    "remove_file",
    "remove_folder",
    "remove_target",
    "require_space",
    "size_text",
    "translated",
    "write_file",
    "write_output",
]

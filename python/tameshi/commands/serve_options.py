"""Options of `tameshi serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.completion import complete_served

Target = Annotated[
    str,
    typer.Argument(
        help="Name or file of a drive's or an array's profile; a storage of a study, as "
        "FILE[:NAME]; or ctl, for a message.",
        autocompletion=complete_served,
    ),
]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        help="Command on the drive, after --; or the message: cut, fail MEMBER, replace MEMBER, "
        "slow FACTOR [SECONDS], corrupt error|flip|misdirect OFFSET LENGTH, status, reset."
    ),
]
Size = Annotated[
    str | None, typer.Option("--size", help="Bytes to serve. [default: 64 GiB; a disk whole]")
]
At = Annotated[Path | None, typer.Option("--at", help="Mount point: an empty or a new directory.")]
OnlyBlock = Annotated[
    bool, typer.Option("--block", help="Make a block device without a file system.")
]
Nbd = Annotated[
    str | None,
    typer.Option("--nbd", help="Serve by NBD instead, at unix:/PATH or IP:PORT."),
]
Fs = Annotated[str, typer.Option("--fs", help="File system: xfs or ext4.")]
Memory = Annotated[
    str | None,
    typer.Option(help="Most memory for the drive's data. [default: half of what is free]"),
]
Store = Annotated[
    Path | None,
    typer.Option("--store", help="Directory on a disk for the drive's data, instead of memory."),
]
Written = Annotated[str | None, typer.Option(help="Writes to flash before: never, once or steady.")]
Age = Annotated[
    list[str] | None,
    typer.Option(
        "--age",
        help="Age of flash: worn_percent=PERCENT, dead_channels=NUMBER or hold_up=TIME; "
        "may be repeated.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of what power cuts take.")]
Lie = Annotated[
    list[str] | None, typer.Option("--lie", help="Promise that the drive breaks: flush.")
]
WithoutCapacitor = Annotated[
    bool,
    typer.Option("--without-capacitor", help="Serve a flash drive without its capacitor."),
]
PlainFuse = Annotated[
    bool, typer.Option("--plain-fuse", help="Use plain FUSE even if the kernel has its ring.")
]
Drive = Annotated[str | None, typer.Option("--drive", help="Name of the served drive, with ctl.")]
Slow = Annotated[
    str, typer.Option("--slow", help="Slow motion: factor by which the drive's time is slowed.")
]

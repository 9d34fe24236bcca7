"""What the doctor examines: plain facts, each None where the machine does not tell."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.servers.installed import Program


@dataclass(frozen=True)
class Ring:
    """What became of an attempt to set up an io_uring.

    `error` is the name of the kernel's refusal (`EPERM`), `setting` is
    /proc/sys/kernel/io_uring_disabled, `lacking` what the load generator needs and it has not.
    """

    error: str | None = None
    setting: int | None = None
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Disk:
    """The whole disk behind a target, by sysfs; `link` is (now, possible) of its PCIe link."""

    name: str
    model: str | None = None
    virtual: str | None = None
    backing_file: str | None = None
    members: tuple[str, ...] = ()
    rotational: int | None = None
    scheduler: str | None = None
    io_poll: int | None = None
    nomerges: int | None = None
    iostats: int | None = None
    write_cache: str | None = None
    link: tuple[str, str] | None = None
    sync_action: str | None = None


@dataclass(frozen=True)
class Target:
    """A place that a study might be bound to.

    `refusal` is the guard's reason to leave it alone. `direct` says whether direct I/O was done on
    a file made there; None where no file was made, as on a whole device.
    """

    path: str
    whole_device: bool = False
    refusal: str | None = None
    direct: bool | None = None
    free_bytes: int | None = None
    total_bytes: int | None = None
    file_system: str | None = None
    mount_point: str | None = None
    options: tuple[str, ...] = ()
    disk: Disk | None = None


@dataclass(frozen=True)
class Facts:
    """All that the doctor knows of a machine; sizes in bytes.

    Device files (`fuse`, `loop_control`) are None where they open, else the name of the refusal.
    `memory_limit` and `cpu_quota` (in cores) are what control groups allow. `idle_wake_us` is the
    time the deepest permitted idle state takes to wake from; limits of None are unlimited.
    """

    system: str = "Linux"
    kernel: str = ""
    cpus: int = 1
    cpu_quota: float | None = None
    virtual_machine: bool = False
    governors: tuple[str, ...] = ()
    idle_wake_us: int | None = None
    clock_source: str | None = None
    load: float | None = None
    memory_bytes: int = 0
    memory_available: int = 0
    memory_limit: int | None = None
    swap_bytes: int = 0
    swap_used: int = 0
    huge_pages: str | None = None
    open_files: int | None = None
    locked_memory: int | None = None
    may_lock_memory: bool = False
    may_mount: bool = False
    ring: Ring = Ring()
    fuse: str | None = None
    fuse_helper: str | None = None
    loop_control: str | None = None
    loops_free: int = 0
    programs: tuple[Program, ...] = ()
    targets: tuple[Target, ...] = ()

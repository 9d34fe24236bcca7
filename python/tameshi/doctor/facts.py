"""Facts for the doctor, each None if the machine does not reveal it."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.servers.installed import Program


@dataclass(frozen=True)
class Ring:
    """Result of setting up an io_uring.

    `error` is the name of the kernel's error (`EPERM`), `setting` is
    /proc/sys/kernel/io_uring_disabled, `lacking` lists missing features that the load generator
    needs.
    """

    error: str | None = None
    setting: int | None = None
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Disk:
    """Whole disk behind a target, from sysfs; `link` is (current, possible) of its PCIe link."""

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
    """Possible target of a study.

    `refusal` is the guard's reason. `direct` tells whether direct I/O worked on a file made there;
    None without such a file, as on a whole device.
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
    """Facts on a machine; sizes in bytes.

    Device files (`fuse`, `loop_control`, `tun`) are None if they open, else the name of the error.
    `memory_limit` and `cpu_quota` (in cores) are limits of control groups. `idle_wake_us` is the
    wake-up time of the deepest permitted idle state; None means unlimited. `fuse_ring` is the
    kernel's switch for FUSE over io_uring: Y or N.
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
    fuse_ring: str | None = None
    loop_control: str | None = None
    loops_free: int = 0
    tun: str | None = None
    programs: tuple[Program, ...] = ()
    targets: tuple[Target, ...] = ()

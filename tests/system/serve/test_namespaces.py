"""Mount namespaces of served drives and the mounts of others."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from served import only_served_drives

CHILD = """
import sys
from pathlib import Path
from tameshi.serve.kernel import enter_private_namespace

enter_private_namespace()
for _ in range(2):
    print(sys.argv[1] in Path("/proc/self/mountinfo").read_text(), flush=True)
    sys.stdin.readline()
"""


def test_file_system_unmounted_elsewhere_is_let_go(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    with only_served_drives(), ExitStack() as stack:
        mount(stack, tmp_path)
        # As systemd has the root; a container's is private.
        subprocess.run(["mount", "--make-shared", str(tmp_path)], check=True)
        inner.mkdir()
        with ExitStack() as innermost:
            mount(innermost, inner)
            child = subprocess.Popen(
                [sys.executable, "-c", CHILD, str(inner)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert child.stdout is not None
            assert child.stdout.readline() == "True\n"
        assert not inner.is_mount()
        said, _ = child.communicate("\n\n", timeout=10)
        assert (said, child.returncode) == ("False\n", 0)


def mount(stack: ExitStack, folder: Path) -> None:
    """Mount an empty file system until the stack is closed."""
    subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], check=True)
    stack.callback(subprocess.run, ["umount", str(folder)], check=True)

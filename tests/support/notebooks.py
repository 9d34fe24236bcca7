"""Notebooks of examples/, run with other parameters."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

PARAMETERS = "parameters"
"""Tag of the cell whose values may be replaced."""


def read(path: Path) -> nbformat.NotebookNode:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)


def run(path: Path, folder: Path, parameters: Mapping[str, str], timeout_s: int) -> str:
    """Run a notebook in a folder, and return what its last cell printed or showed as text.

    `parameters` are Python expressions by name. An error in a cell is raised.
    """
    notebook = read(path)
    (place,) = (
        place
        for place, cell in enumerate(notebook.cells)
        if PARAMETERS in cell.metadata.get("tags", ())
    )
    if parameters:
        text = "\n".join(f"{name} = {value}" for name, value in parameters.items())
        notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(text))
    with patch.dict(os.environ, {"IPYTHONDIR": str(folder / ".ipython")}):
        at = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=timeout_s, kernel_name="python3", resources=at).execute()
    return "\n".join(map(_text, notebook.cells[-1].outputs))


def _text(output: Mapping[str, Any]) -> str:
    """Return an output of a cell as text."""
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))

"""Results of other tools as measured cells: fio, sysbench, pgbench, tpcc-mysql.

`reading` finds out the tool, one module per tool reads its results into an `Archive`, and `writing`
makes a study folder of archives. `docs/import.md` is the page for users.
"""

from tameshi.archives.model import Archive
from tameshi.archives.reading import TOOLS, read_archive
from tameshi.archives.writing import Labelled, import_archives

__all__ = ["TOOLS", "Archive", "Labelled", "import_archives", "read_archive"]

"""fio job files, run by Tameshi, with results in fio's formats.

`command_line` and `jobfile` parse text, `keys` decides on every key, and `values` parses values.
`job` interprets one job by its `options`, `offsets` and `goals`, `job_list` all of them.
`translate` makes a study of them in their `regions`, with one entry of `streams` for each stream.
After the run, `measured` reads the record into `bins`; `json_writer` writes fio's JSON, `output`
its text, `terse` its terse lines, `logs` its logs. `json` holds the keys of fio's JSON and reads
results of fio itself. `docs/fio.md` is the page for users.
"""

from tameshi.fio.command_line import formats_of, parse_arguments, with_two_dashes
from tameshi.fio.job import Job, read_job
from tameshi.fio.job_list import read_jobs
from tameshi.fio.jobfile import (
    JobText,
    Setting,
    parse_job_text,
    read_job_file,
    write_jobs,
)
from tameshi.fio.json_writer import best_of, errors_of, fio_json, fio_version
from tameshi.fio.keys import NOTED, TRANSLATED
from tameshi.fio.logs import fio_logs
from tameshi.fio.output import fio_text
from tameshi.fio.terse import fio_terse
from tameshi.fio.translate import Translation, translate

__all__ = [
    "NOTED",
    "TRANSLATED",
    "Job",
    "JobText",
    "Setting",
    "Translation",
    "best_of",
    "errors_of",
    "fio_json",
    "fio_logs",
    "fio_terse",
    "fio_text",
    "fio_version",
    "formats_of",
    "parse_arguments",
    "parse_job_text",
    "read_job",
    "read_job_file",
    "read_jobs",
    "translate",
    "with_two_dashes",
    "write_jobs",
]

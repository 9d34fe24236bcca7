"""Metrics of a study while it runs, in the OpenMetrics format: `run --metrics`.

`run_files` follows the files that a run appends to, `exposition` turns their content and the
progress into families of metrics, `service` serves them. Nothing is added to a run: its own files
are read when Prometheus asks. `docs/monitor.md` is the page for users.
"""

from tameshi.monitor.service import Service, serve

__all__ = ["Service", "serve"]

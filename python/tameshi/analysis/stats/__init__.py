"""From records to estimates with intervals: pure functions, no input or output."""

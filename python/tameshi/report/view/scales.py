"""Validated capacity scales."""

SHOWN_SCALE, SHOWN_CHANGE = 256, 1.4
"""Largest validated capacity scale, and the largest change of rates, means and medians in per cent:
docs/validation/capacity-scale.md."""

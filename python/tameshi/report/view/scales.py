"""Capacity scales, and what is known of them."""

SHOWN_SCALE, SHOWN_CHANGE = 256, 1.4
"""Up to which capacity scale results were held against a whole drive's, and by how many per cent
rates, means and medians changed at most: docs/validation/capacity-scale.md."""

"""Errors of simulations, carried from known figures to others of the same host and storage.

A Gaussian process over places (`places.py`): the logarithm of ours over the known value has a part
in common with all works of a host on a storage, one with the same work, and one that changes with
the load; another server shares half of the latter two. Variances and lengths are those of the
greatest likelihood, with a prior around `START`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from validation.round2.places import Place, PlacedFigure

Array = NDArray[np.float64]
START = {
    "drive": (0.02, 0.05, 0.05, 0.02, 2.0, 0.5),
    "database": (0.02, 0.05, 0.05, 0.02, 1.0, 2.0),
}
"""Variances of surroundings, work, load and noise; lengths of both loads."""
OTHER_SERVER = 0.5
"""Share of what is off with the same work that two servers have in common, MySQL and MariaDB: an
engineering prior, as no known figures tell it."""
PRIOR = 0.7
"""Standard deviation of the logarithm of each around its start."""
STEPS = 40


@dataclass(frozen=True)
class Known:
    """Known figure: the logarithm of ours over it, greater where ours is faster."""

    figure: PlacedFigure
    off: float


@dataclass(frozen=True)
class Residuals:
    """Errors of the simulations of a domain; `shape` as in `START`."""

    known: Sequence[Known]
    shape: Sequence[float]

    def of(self, figures: Sequence[PlacedFigure]) -> tuple[Array, Array]:
        """Return what ours is off by, and the standard deviation of a measurement from that."""
        theirs = [known.figure for known in self.known]
        noise = self.shape[3]
        inner = _covariance(theirs, theirs, self.shape) + noise * np.eye(len(theirs))
        across = _covariance(figures, theirs, self.shape)
        weights = np.linalg.solve(inner, across.T)
        own = np.diag(_covariance(figures, figures, self.shape))
        left = own - np.einsum("ij,ji->i", across, weights) + noise
        return weights.T @ np.array([known.off for known in self.known]), np.sqrt(left)

    def without(self, left_out: Sequence[Known]) -> Residuals:
        """Return the same from the other known figures."""
        ids = {known.figure.id for known in left_out}
        return Residuals([each for each in self.known if each.figure.id not in ids], self.shape)

    def reaches(self, figure: PlacedFigure) -> bool:
        """Return whether a figure of the same surroundings is known."""
        return any(
            known.figure.place.surroundings == figure.place.surroundings for known in self.known
        )


def fitted(known: Sequence[Known]) -> Residuals:
    """Return the residuals of one domain's known figures."""
    figures = [each.figure for each in known]
    offs = np.array([each.off for each in known])
    start = np.log(START[figures[0].place.domain])

    def cost(logs: Array) -> float:
        shape = np.exp(logs)
        inner = _covariance(figures, figures, shape) + (shape[3] + 1e-8) * np.eye(len(offs))
        lower = np.linalg.cholesky(inner)
        solved = np.linalg.solve(lower, offs)
        far = float(np.sum(((logs - start) / PRIOR) ** 2))
        return 0.5 * (float(solved @ solved) + far) + float(np.sum(np.log(np.diag(lower))))

    found = minimize(cost, start, method="L-BFGS-B", options={"maxiter": STEPS})
    return Residuals(known, tuple(np.exp(found.x)))


def _covariance(
    some: Sequence[PlacedFigure], others: Sequence[PlacedFigure], shape: Sequence[float] | Array
) -> Array:
    """Return the covariances of two lists of figures; a gain is the difference of two places."""
    total = _between([each.place for each in some], [each.place for each in others], shape)
    for sign, left, right in ((-1, 1, 0), (-1, 0, 1), (1, 1, 1)):
        a, rows = _cells(some, left)
        b, columns = _cells(others, right)
        if rows and columns:
            total[np.ix_(rows, columns)] += sign * _between(a, b, shape)
    return total


def _cells(figures: Sequence[PlacedFigure], other: int) -> tuple[list[Place], list[int]]:
    """Return the places of the figures, or those that gains compare with, and their indices."""
    if not other:
        return [each.place for each in figures], list(range(len(figures)))
    found = [(each.other, index) for index, each in enumerate(figures) if each.other]
    return [place for place, _ in found], [index for _, index in found]


def _between(
    some: Sequence[Place], others: Sequence[Place], shape: Sequence[float] | Array
) -> Array:
    """Return the covariances of two lists of places."""
    common, own, changing, _, *lengths = shape

    def same(attribute: str) -> NDArray[np.bool_]:
        left, right = (np.array([getattr(p, attribute) for p in ps]) for ps in (some, others))
        return np.asarray(left[:, None] == right[None, :])

    around = same("host") & same("storage") & same("measure")
    loads = [np.array([place.load for place in places]) for places in (some, others)]
    apart = (loads[0][:, None, :] - loads[1][None, :, :]) / np.array(lengths)
    near = np.exp(-0.5 * np.sum(apart**2, axis=2))
    alike = same("work") * np.where(same("server"), 1.0, OTHER_SERVER)
    return np.asarray(around * (common + alike * (own + changing * near)))

"""Fit of models to cells by simulating candidates, and choice of the best model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.calibrate.parameters import Model, Parameter
from tameshi.calibrate.simulate import OPERATIONS, Simulator
from tameshi.core.errors import RunFailed

STEP = 0.05
"""Step of a derivative, on the logarithm: wide, because simulations are noisy."""
PRIOR = 3.0
"""Standard deviation of a parameter around its start, on the logarithm: factor 20 up or down."""
LEAST_SIGMA = 0.03
UNKNOWN_SIGMA = 0.05
MEDIAN_WEIGHT = 0.5
TOLD = 0.25
"""Largest relative standard error of a parameter that counts as determined."""
MOST_STEPS = 12
FINAL = 10
"""Length of the final simulation, as a multiple of those of the fit."""
IMPOSSIBLE = 10.0
"""Residual of a cell that a candidate cannot perform."""


@dataclass(frozen=True)
class Estimated:
    """Fitted parameter: value and relative standard error."""

    parameter: Parameter
    value: float
    error: float

    @property
    def determined(self) -> bool:
        """Return whether the cells determine it."""
        inside = self.parameter.low * 1.05 < self.value < self.parameter.high / 1.05
        return self.error < TOLD and inside


@dataclass(frozen=True)
class Fitted:
    """Model with its fitted values, error, and simulated cells."""

    model: Model
    estimates: Sequence[Estimated]
    score: float
    """Sum of squared residuals and the Bayesian penalty for parameters; the least is best."""
    error: float
    """Root mean square of the logarithm of simulated over measured rates in fitted cells."""
    figures: Mapping[str, Mapping[str, Figures]]
    simulations: int
    penalty: float = 0.0
    """Part of the score for the parameters."""

    @property
    def values(self) -> dict[str, float]:
        """Return the values by key."""
        return {each.parameter.key: each.value for each in self.estimates}


Watch = Callable[[str, int], None]
"""Callback for progress: name of the model and number of simulated candidates."""


def fit_all(cells: Sequence[Cell], models: Sequence[Model], watch: Watch) -> list[Fitted]:
    """Fit every model to the cells that are not held out; return the best first.

    Excludes overdetermined models (`beyond`), unless no other can be fitted. Raises `RunFailed` if
    none can be simulated.
    """
    results: list[Fitted] = []
    reasons: list[str] = []
    left = beyond(cells, models)
    for group in ([model for model in models if model not in left], left):
        for model in () if results else group:
            try:
                results.append(_fit(cells, model, watch))
            except RunFailed as error:
                reasons.append(f"{model.name}: {error.message}")
    if not results:
        raise RunFailed(f"no model can be fitted: {'; '.join(reasons) or 'there are none'}")
    return sorted(results, key=lambda fitted: fitted.score)


def beyond(cells: Sequence[Cell], models: Sequence[Model]) -> list[Model]:
    """Return the models with at least as many parameters as fitted cells: these fit anything.

    A median latency is hardly a second figure of a cell: at a depth the mean follows from the rate.
    """
    count = len([cell for cell in cells if not cell.held_out])
    return [model for model in models if len(model.parameters) >= count]


def _fit(cells: Sequence[Cell], model: Model, watch: Watch) -> Fitted:
    fitted = [cell for cell in cells if not cell.held_out]
    simulator = Simulator(fitted, OPERATIONS)
    starts = np.array([p.start for p in model.parameters])

    def values(x: np.ndarray) -> dict[str, float]:
        numbers = starts * np.exp(x)
        return {p.key: float(n) for p, n in zip(model.parameters, numbers, strict=True)}

    def residuals(x: np.ndarray) -> np.ndarray:
        watch(model.name, simulator.simulated)
        figures = simulator.figures(model.device(values(x)))
        errors = [
            r for cell, simulated in zip(fitted, figures, strict=True) for r in off(cell, simulated)
        ]
        return np.array([*errors, *(x / PRIOR)])

    low = np.array([math.log(p.low / p.start) for p in model.parameters]) - 1e-9
    high = np.array([math.log(p.high / p.start) for p in model.parameters]) + 1e-9
    residuals_of = _remembered(residuals)
    solved = least_squares(
        residuals_of,
        np.zeros(len(starts)),
        jac=_jacobian(residuals_of, high),
        bounds=(low, high),
        loss="soft_l1",
        x_scale=1.0,
        ftol=1e-3,
        xtol=2e-3,
        max_nfev=MOST_STEPS,
    )
    estimates = _estimates(model, values(solved.x), solved)
    return _judged(cells, model, estimates, solved, simulator.simulated)


def _remembered(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], Any]:
    """Cache a function by its argument."""
    known: dict[bytes, np.ndarray] = {}

    def remembered(x: np.ndarray) -> np.ndarray:
        key = x.tobytes()
        if key not in known:
            known[key] = function(x)
        return known[key]

    return remembered


def _jacobian(
    residuals: Callable[[np.ndarray], np.ndarray], high: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return differences over a wide step, inward at the upper bound."""

    def jacobian(x: np.ndarray) -> np.ndarray:
        columns = []
        for place in range(len(x)):
            step = np.zeros(len(x))
            step[place] = STEP if x[place] + STEP < high[place] else -STEP
            columns.append((residuals(x + step) - residuals(x)) / step[place])
        return np.array(columns).T

    return jacobian


def off(cell: Cell, on_model: Mapping[str, Figures]) -> list[float]:
    """Return the distance of a simulated cell from the measured one, in standard deviations of
    logarithms."""
    spread = UNKNOWN_SIGMA if cell.spread is None else cell.spread / 2
    sigma = math.hypot(spread, LEAST_SIGMA)
    rate = sum(on_model[kind].rate for kind in KINDS if kind in on_model)
    residuals = [_log(rate, cell.rate) / sigma]
    for kind in (*KINDS, SYNC):
        there = cell.operations.get(kind)
        median = there.quantile(0.5) if there else None
        if median:
            median += cell.between_ns if kind in KINDS else 0.0
            simulated = on_model[kind].quantile(0.5) if kind in on_model else None
            residuals.append(MEDIAN_WEIGHT * _log(simulated or 0.0, median) / sigma)
    return residuals


def _log(one: float, other: float) -> float:
    if one <= 0 or other <= 0:
        return IMPOSSIBLE
    return math.log(one / other)


def _estimates(model: Model, values: Mapping[str, float], solved: Any) -> list[Estimated]:
    """Return standard errors from the curvature at the solution, scaled up by the misfit."""
    count, parameters = solved.jac.shape
    information = solved.jac.T @ solved.jac
    misfit = 2 * solved.cost / max(count - 2 * parameters, 1)
    covariance = np.linalg.pinv(information) * max(misfit, 1.0)
    errors = np.sqrt(np.clip(np.diag(covariance), 0.0, None))
    return [
        Estimated(parameter, values[parameter.key], float(error))
        for parameter, error in zip(model.parameters, errors, strict=True)
    ]


def _judged(
    cells: Sequence[Cell],
    model: Model,
    estimates: Sequence[Estimated],
    solved: Any,
    simulations: int,
) -> Fitted:
    """Return every cell, held out or not, from a long simulation."""
    device = model.device({each.parameter.key: each.value for each in estimates})
    simulated = Simulator(cells, OPERATIONS * FINAL).figures(device)
    figures = {cell.name: each for cell, each in zip(cells, simulated, strict=True)}
    errors = [error_of(cell, figures[cell.name]) for cell in cells if not cell.held_out]
    squares = [math.log1p(max(error, -0.99)) ** 2 for error in errors]
    count = len(solved.fun) - len(estimates)
    penalty = len(estimates) * math.log(max(count, 2))
    score = 2 * solved.cost + penalty
    rms = math.sqrt(sum(squares) / max(len(squares), 1))
    return Fitted(model, estimates, float(score), rms, figures, simulations, penalty)


def error_of(cell: Cell, simulated: Mapping[str, Figures]) -> float:
    """Return simulated rate over measured, less one."""
    return sum(simulated[kind].rate for kind in KINDS if kind in simulated) / cell.rate - 1.0

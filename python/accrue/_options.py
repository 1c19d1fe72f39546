"""The options of a fit, as types. Made by scripts/option-docs from the table in src/fit/options.cpp: change that, not this."""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from numpy.typing import NDArray

Form = Literal["auto", "clusters", "constant", "network", "polynomial"]
Family = Literal["auto", "normal", "logistic", "student-t", "two-piece-normal", "sinh-arcsinh"]
Recipe = Literal["default", "paper"]
Score = Literal["ar", "crps", "nlpd"]
Bias = Literal["auto", "none", "constant", "linear", "network"]
Mean = Literal["none", "auto", "constant", "gp", "network"]
BoundKind = Literal["auto", "censored", "truncated"]
Recalibrate = Literal["auto", "none", "isotonic", "conformal"]


class FitOptions(TypedDict, total=False):
    """Keyword arguments of `accrue.fit` that say what is learned, and how (docs/options.md).

    form: How sigma depends on the inputs. auto: a network, averaged with a polynomial where there is one input.
        clusters: one sigma for each region of the inputs. constant: the same for all inputs. network: 50 and 10 hidden
        units. polynomial: sigma is a polynomial of the only input. One of "auto", "clusters", "constant", "network",
        "polynomial"; default: "auto".
    family: Distribution of the errors. auto: the simplest that held-out rows do not refute. normal: a Gaussian.
        logistic: a logistic distribution, with heavier tails than a Gaussian's. student-t: a Student t distribution,
        whose tails are learned. two-piece-normal: a Gaussian with another scale on either side, which is learned. sinh-
        arcsinh: a sinh-arcsinh normal distribution, whose skew and tails are learned. One of "auto", "normal",
        "logistic", "student-t", "two-piece-normal", "sinh-arcsinh"; default: "auto".
    recipe: How rows are used. default: folds, every row is used and every row is held out once. paper: one random
        split. One of "default", "paper"; default: "default".
    score: Cost to minimise: accuracy and reliability together, or one score alone. One of "ar", "crps", "nlpd";
        default: "ar".
    balance: ar: weight of accuracy against reliability, 0 to 1. A number, 0 to 1; default: 0.5.
    balance_front: ar: fit with each of these balances too, and show what they give on held-out rows. Numbers, 0 to 1;
        default: [].
    bias: Correct the prediction by a constant, or linearly in the inputs and the prediction. auto: the simplest that
        held-out rows do not refute. network: linearly, and by a location that is learned in the same network as the
        scale. One of "auto", "none", "constant", "linear", "network"; default: "auto".
    mean: Learn the mean too, from `observation` alone; a row's error comes from means that never saw it. auto: the
        simplest that held-out rows do not refute. constant: the average of the observations. gp: a Gaussian process (up
        to 5,000 rows). network: networks of 50 hidden units. One of "none", "auto", "constant", "gp", "network";
        default: "none".
    lower: Bound below which no observation can lie, or none. A number or None; default: None.
    upper: Bound above which no observation can lie, or none. A number or None; default: None.
    bound_kind: What happens at the bounds. auto: censored where observations sit on a bound, else truncated. censored:
        the probability beyond a bound sits on it. truncated: the distribution ends there. One of "auto", "censored",
        "truncated"; default: "auto".
    recalibrate: Map the forecast's probabilities to what held-out rows showed, for errors that are skewed. auto: none,
        or the one that held-out rows ask for. isotonic: the map that fits these rows. conformal: ranks over n + 1, for
        intervals with a promised coverage. One of "auto", "none", "isotonic", "conformal"; default: "auto".
    calibration_share: Share of rows set apart for the recalibration, which enter nothing else; 0: rows out of fold make
        the map. A number, 0 to 0.9; default: 0.0.
    folds: Number of folds (default recipe). A whole number, at least 2; default: 5.
    training_share: Paper recipe: share of rows for training. A number, more than 0 and less than 1; default: 0.33.
    validation_share: Share for validation; the rest is the test set. A number, more than 0 and less than 1; default:
        0.33.
    starts: Random starts per fold; 0: 3, or 5 for the paper's recipe. A whole number, 0 to 1000; default: 0.
    patience: Iterations without a better validation cost before a start ends; 0: 10 or 30. A whole number, at least 0;
        default: 0.
    max_iterations: Iterations of a start, at most. A whole number, at least 1; default: 400.
    stages: From 100,000 rows on, train networks on growing samples first; without stages, on all rows throughout. True
        or False; default: True.
    seed: Same seed, same model, byte for byte, for the same order of rows on processors of one level; on another, or
        with rows in another order, it differs as one of another seed does. A whole number, at least 0; default: 1.
    """

    form: Form
    family: Family
    recipe: Recipe
    score: Score
    balance: float
    balance_front: Sequence[float] | NDArray[Any]
    bias: Bias
    mean: Mean
    lower: float | None
    upper: float | None
    bound_kind: BoundKind
    recalibrate: Recalibrate
    calibration_share: float
    folds: int
    training_share: float
    validation_share: float
    starts: int
    patience: int
    max_iterations: int
    stages: bool
    seed: int

"""Calibrated probabilistic forecasts from deterministic models.

>>> import accrue
>>> archive = accrue.generate("G", 1000, seed=1)
>>> model = accrue.fit(archive, columns=["x"], prediction="f", observation="y", progress=False)
>>> print(model.summary)
Calibrated: calibration error 2.0%, floor 2.6% for 1000 rows.
>>> forecast = model.predict({"x": [0.9]}, prediction=[-1.2])
>>> low, high = forecast.interval(0.9)
>>> print(f"{low[0]:.1f} to {high[0]:.1f}")
-2.8 to 0.4
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import plot as plot
    from . import scores as scores
    from . import sklearn as sklearn
    from . import verify as verify
    from ._arrays import threads as threads
    from ._compare import Comparison as Comparison
    from ._core import version as __version__
    from ._forecast import Forecast as Forecast
    from ._model import Model as Model
    from ._model import ScoreOptions as ScoreOptions
    from ._model import compare as compare
    from ._model import evaluate as evaluate
    from ._model import report as report
    from ._model import fit as fit
    from ._model import Replay as Replay
    from ._model import generate as generate
    from ._model import monitor as monitor
    from ._model import replay as replay
    from ._options import FitOptions as FitOptions
    from .sklearn import CalibratedRegressor as CalibratedRegressor
    from .sklearn import SigmaRegressor as SigmaRegressor

# Found when they are first used, so that the command starts without NumPy, and the core works without scikit-learn.
_HOMES = {
    "compare": "._model",
    "evaluate": "._model",
    "report": "._model",
    "fit": "._model",
    "generate": "._model",
    "monitor": "._model",
    "replay": "._model",
    "Replay": "._model",
    "Comparison": "._compare",
    "Model": "._model",
    "ScoreOptions": "._model",
    "FitOptions": "._options",
    "Forecast": "._forecast",
    "threads": "._arrays",
    "CalibratedRegressor": ".sklearn",
    "SigmaRegressor": ".sklearn",
}
_MODULES = ("plot", "scores", "sklearn", "verify")

__all__ = [*_HOMES, *_MODULES, "__version__"]


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name == "__version__":
        return importlib.import_module("._core", __name__).version
    if name not in _HOMES:
        raise AttributeError(f"module 'accrue' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)

"""What a type checker says of calls, good and bad."""

import subprocess
import sys

import pytest

START = """
import accrue
import numpy as np

x = np.arange(100.0)
"""

GOOD = """
model = accrue.fit({"x": x}, error=x, form="network", bias="linear", folds=3, balance=1, stages=False, mean="none")
options: accrue.FitOptions = {"form": "constant", "recalibrate": "isotonic", "score": "crps", "max_iterations": 5}
summary: str = accrue.fit({"x": x}, error=x, progress=False, **options).summary
forecast: accrue.Forecast = model.predict({"x": x})
marked: accrue.Forecast = model.predict({"x": x}, missing_value={"x": -9999}, off_support="widen")
timed: accrue.Forecast = model.predict({"x": x}, times=x, groups="station", missing_value=-9999)
front = accrue.fit({"x": x}, error=x, balance_front=np.array([0.25, 0.75]))
bounded = accrue.CalibratedRegressor(lower=0, bound_kind="censored")
interval: tuple[np.ndarray, np.ndarray] = forecast.interval(0.9)
compared: accrue.Comparison = accrue.compare({"a": model, "b": forecast}, {"x": x}, observation=x, missing="drop")
scores: dict[str, object] = accrue.evaluate(observation=x, members=np.ones((100, 3)), exceed=[1.0], decompose=True)
accrue.CalibratedRegressor(form="clusters", bias="constant", folds=3)
accrue.SigmaRegressor(0, score_to_fit="nlpd", recalibrate="isotonic", random_state=2)
"""

BAD = """
accrue.fit({"x": x}, error=x, bias="lin")
accrue.fit({"x": x}, error=x, form=3)
accrue.fit({"x": x}, error=x, folds="3")
accrue.fit({"x": x}, error=x, folds=2.5)
accrue.fit({"x": x}, error=x, stages="no")
accrue.fit({"x": x}, error=x, fold=3)
accrue.CalibratedRegressor(form="spline")
accrue.SigmaRegressor(score_to_fit="mse")
accrue.SigmaRegressor(upper=1, bound_kind="cut")
accrue.fit({"x": x}, error=x, balance_front=0.5)
accrue.fit({"x": x}, error=x, missing="skip")
number: int = accrue.Model.load("model.json").predict({"x": x})
wrong: accrue.FitOptions = {"recipe": "mine"}
accrue.evaluate(observation=x, members="P*", decompose="yes")
"""


def errors(code, folder):
    """The lines of the code that mypy objects to."""
    (folder / "code.py").write_text(START + code)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", folder / "cache", "code.py"]
    lines = subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout.splitlines()
    assert all(line.startswith("code.py:") for line in lines), lines
    return sorted({int(line.split(":")[1]) for line in lines if ": error: " in line})


def test_a_type_checker_finds_wrong_options_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    first = START.count("\n") + 2
    assert errors(GOOD, tmp_path) == []
    assert errors(BAD, tmp_path) == list(range(first, first + BAD.count("\n") - 1))

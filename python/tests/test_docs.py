import doctest
import importlib
import os
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("ACCRUE_SOURCE", pathlib.Path(__file__).parents[2]))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


MODULES = ["", "._arrays", "._forecast", "._model", ".plot", ".scores", ".sklearn", ".verify"]


@pytest.mark.parametrize("name", ["accrue" + module for module in MODULES])
def test_examples_of_docstrings_are_right(name):
    pytest.importorskip("matplotlib").use("Agg")
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.attempted > 0 and result.failed == 0


def test_the_page_on_python_is_right():
    pytest.importorskip("sklearn")
    result = doctest.testfile(str(SOURCE / "docs" / "python.md"), module_relative=False, optionflags=FLAGS)
    assert result.attempted > 20 and result.failed == 0


@pytest.mark.parametrize("path", sorted((SOURCE / "python" / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_worked_examples_run(path, capsys):
    for package in ("dask", "netCDF4", "pandas", "pyarrow", "sklearn", "xarray"):
        pytest.importorskip(package)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.count("\n") >= 3


def test_one_example_says_the_same_in_three_languages(tmp_path):
    page = (SOURCE / "docs" / "python.md").read_text()
    # pip puts the command beside the interpreter.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    programs = {"sh": ["bash"], "py": [sys.executable]}
    said = {}
    for language, program in programs.items():
        example = SOURCE / "examples" / f"fit_and_forecast.{language}"
        shown = example.read_text().partition("\n\n")[2]  # without its heading
        assert f"\n{shown}```" in page
        said[language] = _output([*program, example], tmp_path, PATH=path)
    header, row = said["sh"].splitlines()[-2:]
    figures = dict(zip(header.split(","), map(float, row.split(","))))
    interval = f"90% interval {figures['lower_0.9']:.2f} to {figures['upper_0.9']:.2f}"
    assert interval in said["py"]
    if "ACCRUE_CPP_EXAMPLE" in os.environ:  # ctest names the program
        assert interval in _output([os.environ["ACCRUE_CPP_EXAMPLE"]], tmp_path)


def test_lower_bounds_are_the_versions_that_were_tested():
    bounds = re.findall(
        r'"([\w-]+)(?:\[\w+\])?>=([\d.]+)"', (SOURCE / "pyproject.toml").read_text().partition("[project]")[2]
    )
    tested = set((SOURCE / "python" / "tests" / "oldest.txt").read_text().split())
    assert len(bounds) > 10
    for package, version in bounds:
        assert f"{package}=={version}" in tested


def _output(command, folder, **environment):
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True, text=True
    ).stdout

import doctest
import importlib
import os
import pathlib
import runpy

import pytest

SOURCE = pathlib.Path(os.environ.get("ACCRUE_SOURCE", pathlib.Path(__file__).parents[2]))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


MODULES = ["", "._arrays", "._forecast", "._model", "._words", ".plot", ".scores", ".sklearn", ".verify"]


@pytest.mark.parametrize("name", ["accrue" + module for module in MODULES])
def test_examples_of_docstrings_are_right(name):
    pytest.importorskip("matplotlib").use("Agg")
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.attempted > 0 and result.failed == 0


def test_the_page_on_python_is_right():
    result = doctest.testfile(str(SOURCE / "docs" / "python.md"), module_relative=False, optionflags=FLAGS)
    assert result.attempted > 20 and result.failed == 0


@pytest.mark.parametrize("path", sorted((SOURCE / "python" / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_worked_examples_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.count("\n") >= 3

"""The library names options as the command line does; people in Python read the names of arguments.

Documents (model files, pages, the object of `evaluate`) keep the words of the command: they are the same from everywhere.
"""

from __future__ import annotations

import re

# Arguments that are called otherwise than the option. The others have its name.
_ARGUMENTS = {"inputs": "columns", "weight": "sample_weight", "group": "groups", "time": "times"}
# Words that are values of options (the tests read them from the command's help); another word goes on with the sentence.
_VALUES = "none|constant|linear|network|polynomial|clusters|gp|isotonic|default|paper|ar|crps|nlpd"
_OPTION = re.compile(rf"(?:accrue fit )?--([a-z]+)(?: (?:({_VALUES})|(\d+(?:\.\d+)?))\b)?")


def in_python(message: str) -> str:
    """
    >>> in_python("--bias corrects a prediction; with --mean gp there is none")
    'bias corrects a prediction; with mean="gp" there is none'
    >>> in_python("use --folds 3 or another column")
    'use folds=3 or another column'
    """

    def argument(found: re.Match[str]) -> str:
        option, word, number = found.groups()
        name = _ARGUMENTS.get(option, option)
        return f'{name}="{word}"' if word else f"{name}={number}" if number else name

    return _OPTION.sub(argument, message)

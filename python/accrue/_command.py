"""The `accrue` on the path: starts the program that lies in the package."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(__file__), "bin", "accrue")
    os.execv(program, ["accrue", *sys.argv[1:]])

#!/usr/bin/env python3
"""names.py ROOT LIBRARY [INSIDE]: lists what leaves the library, and fails when that is not what public headers declare.

INSIDE is the same library with every name. What leaves must be declared in include/accrue, or be listed in src/exports.map
for accrue_paper; and what public headers declare must leave. Without INSIDE it is a library of some of the objects: nothing
leaves it for accrue_paper, and not all that is public has to be there.
"""

import pathlib
import re
import subprocess
import sys


def names(library):
    """Defined dynamic symbols, demangled."""
    command = ["nm", "--dynamic", "--defined-only", "--demangle", "--format=posix", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {re.sub(r" [A-Za-z] [0-9a-f]+( [0-9a-f]*)?$", "", line) for line in lines}


def subject(name):
    """accrue::Model::load(...) -> ["Model", "load"]; None for what is not accrue's."""
    name = re.sub(r"^(typeinfo name|typeinfo|vtable|VTT|guard variable) for ", "", name)
    name = re.sub(r"\[abi:\w+\]", "", name)
    match = re.match(r"accrue::((?:~?\w+::)*(?:operator\W+|~?\w+))", name)
    return match and match.group(1).split("::")


def is_inside(parts):
    """In a namespace of a module, which has a lower-case name; public ones have none but this."""
    return len(parts) > 1 and parts[0][0].islower() and parts[0] != "reference"


def main(root, library, inside=None):
    headers = [*sorted(pathlib.Path(root, "include/accrue").glob("*.hpp")), pathlib.Path(root, "cmake/version.hpp.in")]
    public = "".join(re.sub(r"//.*", "", path.read_text()) for path in headers)
    words = set(re.findall(r"\w+", public))
    paper = pathlib.Path(root, "src/exports.map").read_text().split("/* for accrue_paper */")[1]
    for_paper = [pattern.split("::") for pattern in re.findall(r"accrue::([\w:]+)", paper)] if inside else []
    wrong = []
    leaving = names(library)
    for name in sorted(leaving):
        parts = subject(re.sub(r"^[\w:]+ (?=accrue::)", "", name))  # without what an instance of a template returns
        if parts is None:
            wrong.append(f"not of accrue: {name}")
        elif is_inside(parts):
            if not any(parts[: len(pattern)] == pattern or parts[0] == pattern[0] and parts[1].startswith(pattern[1])
                       for pattern in for_paper):  # fmt: skip
                wrong.append(f"leaves, but no public header has it: {name}")
        elif parts[0] not in words:
            wrong.append(f"leaves, but no public header has it: {name}")
        print(name)
    every = names(inside) if inside else leaving
    for name in sorted(every - leaving):
        parts = subject(name)
        if parts and not is_inside(parts):
            wrong.append(f"in namespace accrue, but does not leave (add it to src/exports.map, or to a module's namespace): {name}")
    print(f"{len(leaving)} of {len(every)} names leave" if inside else f"{len(leaving)} names leave")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong or len(leaving) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""How far a fit is: a bar of tqdm where it is installed, else a plain line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Watcher = Callable[[int, int, float], None]


def _wanted(asked: bool | None) -> bool:
    if asked is not None:
        return asked
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextlib.contextmanager
def progress(asked: bool | None) -> Iterator[Watcher | None]:
    """What the fit calls with (starts finished, starts in all, validation cost); None asks for a bar where someone can see it."""
    if not _wanted(asked):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line
        sys.stderr.write("\r\x1b[K" if sys.stderr.isatty() else "\n")
        return
    with tqdm(desc="fit", unit="start", leave=False) as bar:

        def update(finished: int, tasks: int, cost: float) -> None:
            bar.total = tasks
            bar.set_postfix(cost=f"{cost:.4g}", refresh=False)
            bar.update(finished - bar.n)

        yield update


def _line(finished: int, tasks: int, cost: float) -> None:
    sys.stderr.write(f"\rfit: {finished} of {tasks} starts, cost {cost:.4g} ")
    sys.stderr.flush()

"""Forecasts of the same rows, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _html


def pandas_for(what: str) -> Any:
    try:
        import pandas
    except ImportError as problem:
        raise ImportError(f"{what} needs pandas: pip install pandas") from problem
    return pandas


def _text(figure: float | None, style: str) -> str:
    return "not defined" if figure is None else format(figure, style)


class Comparison:
    """Made by `accrue.compare`. `content` is the object that `accrue evaluate --json` prints (docs/evaluate.md)."""

    def __init__(self, content: dict[str, Any]):
        self.content = content

    @property
    def best(self) -> str:
        """The forecast of the lowest CRPS."""
        return self.content["lowest_crps"]["name"]

    @property
    def summary(self) -> str:
        """Which forecast has the lowest CRPS, and whether the others can be told apart from it, in a sentence."""
        return self.content["lowest_crps"]["sentence"]

    def _columns(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        """Figures of a forecast: its own, and the paired difference of its CRPS from the lowest."""
        others = {other["name"]: other for other in self.content["lowest_crps"]["others"]}

        def more(key: str) -> Callable[[dict[str, Any]], Any]:
            # The content has the best less the other; a table is read the other way round.
            other_end = {"low": "high", "high": "low"}.get(key, key)

            def figure(one: dict[str, Any]) -> Any:
                if one["name"] == self.best:
                    return 0.0
                value = others[one["name"]][other_end]
                return None if value is None else -value

            return figure

        def of(key: str) -> Callable[[dict[str, Any]], Any]:
            return lambda one: one.get(key)  # which a quantile forecast or a baseline may not have

        def coverage(place: int) -> Callable[[dict[str, Any]], Any]:
            def figure(one: dict[str, Any]) -> Any:
                observed = one["coverage"][place]["observed"]
                return None if observed is None else 100 * observed

            return figure

        levels = [c["level"] for c in self.content["forecasts"][0]["coverage"]]
        return {
            "crps": of("crps"),
            "crps_more_than_best": more("difference"),
            "crps_more_low": more("low"),
            "crps_more_high": more("high"),
            "nlpd": of("nlpd"),
            "calibration_error_percent": of("calibration_error_percent"),
            "calibration_floor_percent": of("calibration_floor_percent"),
            "sd_z": of("sd_z"),
            **{f"coverage_{level:g}_percent": coverage(place) for place, level in enumerate(levels)},
            "verdict": lambda one: one["verdict"]["summary"],
        }

    def to_frame(self) -> Any:
        """A pandas data frame: a row for every forecast, in the order given. `crps_more_than_best` is the mean of the paired
        differences, `crps_more_low` and `crps_more_high` are the ends of its 90% interval."""
        forecasts = self.content["forecasts"]
        columns = {name: [figure(one) for one in forecasts] for name, figure in self._columns().items()}
        index = [one["name"] for one in forecasts]
        return pandas_for("Comparison.to_frame").DataFrame(columns, index=index)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        head = ["", "CRPS", "more than the best (90% interval)", "calibration error (floor)", "sd of z", "verdict"]
        figures = self._columns()
        rows = []
        for one in self.content["forecasts"]:
            more, low, high = (figures[name](one) for name in ("crps_more_than_best", "crps_more_low", "crps_more_high"))
            known = more is not None and low is not None and high is not None
            rows.append(
                [
                    one["name"],
                    _text(one["crps"], ".4g"),
                    (
                        "lowest"
                        if one["name"] == self.best
                        else f"{more:.2g} ({low:.2g} to {high:.2g})" if known else "not known"
                    ),
                    (
                        f"{_text(one['calibration_error_percent'], '.1f')}% ({_text(one['calibration_floor_percent'], '.1f')}%)"
                        if "calibration_error_percent" in one
                        else "not known"
                    ),
                    _text(one.get("sd_z"), ".2f"),
                    one["verdict"]["summary"].partition(":")[0],
                ]
            )
        return head, rows

    def __repr__(self) -> str:
        head, rows = self._cells()
        widths = [max(map(len, cells)) for cells in zip(head, *rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in (head, *rows)]
        return "\n".join([*lines, self.summary])

    def _repr_html_(self) -> str:
        diagrams = [
            _html.paragraph(one["name"]) + _html.reliability(one, 110)
            for one in self.content["forecasts"]
            if "reliability_diagram" in one
        ]
        return _html.table(*self._cells()) + _html.paragraph(self.summary) + _html.side_by_side(*diagrams)

"""Pieces of what notebooks show. All text is escaped here; nothing is fetched, and no script runs."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def paragraph(text: str, title: str = "") -> str:
    return f"<p>{f'<b>{html.escape(title)}</b> ' if title else ''}{html.escape(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th') if head else ''}{''.join(line(row, 'td') for row in rows)}</table>"


def bullets(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(text)}</li>' for text in texts)}</ul>" if texts else ""


def side_by_side(*parts: str) -> str:
    """Parts that are HTML already."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:center">{inside}</div>'


def reliability(verification: Mapping[str, Any], size: int = 150) -> str:
    """The reliability diagram of a verification as a small SVG, with the band in which a calibrated curve lies; "" without one."""
    diagram = verification.get("reliability_diagram")
    if not diagram:
        return ""
    grid = [float(p) for p in diagram["probability"]]

    def points(values: Sequence[float], along: Sequence[float]) -> str:
        return " ".join(f"{size * p:.1f},{size * (1 - float(v)):.1f}" for p, v in zip(along, values))

    band = diagram["band_90_simultaneous"]
    outline = points(band["low"], grid) + " " + points(band["high"][::-1], grid[::-1])
    title = (
        "Reliability diagram: observed share of rows below each forecast probability; shaded: where a calibrated curve lies"
    )
    # currentColor is the notebook's text, in a light theme and in a dark one.
    return (
        f'<svg role="img" width="{size + 24}" height="{size + 24}" viewBox="-20 -4 {size + 24} {size + 24}" '
        f'fill="none" stroke="currentColor" font-size="9"><title>{html.escape(title)}</title>'
        f'<polygon points="{outline}" fill="currentColor" fill-opacity="0.15" stroke="none"/>'
        f'<rect width="{size}" height="{size}" stroke-opacity="0.4"/>'
        f'<line x1="0" y1="{size}" x2="{size}" y2="0" stroke-opacity="0.4" stroke-dasharray="3"/>'
        f'<polyline points="{points(diagram["observed"], grid)}" stroke="#c2410c" stroke-width="1.5"/>'
        f'<g fill="currentColor" stroke="none"><text x="{size / 2}" y="{size + 12}" text-anchor="middle">forecast probability</text>'
        f'<text transform="translate(-6 {size / 2}) rotate(-90)" text-anchor="middle">observed share</text></g></svg>'
    )

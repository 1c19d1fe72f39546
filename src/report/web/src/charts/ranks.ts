// Where observations lie among the members of an ensemble, and how often they lie below each quantile.
import type { Chart, Layer } from "../chart";
import type { Entry, QuantileScore, Report } from "../data";
import * as format from "../format";
import { colourOf, diagonal, level, named, sentences, share, shortName, symbolOf } from "./common";

export function ranks(report: Report): Chart[] {
  return report.entries.flatMap((entry): Chart[] => {
    const histogram = entry.scores.rank_histogram;
    if (!histogram) return [];
    const shares = histogram.share;
    const outside = shares.filter((s) => s < histogram.low || s > histogram.high).length;
    const last = shares.length - 1;
    return [
      {
        id: `ranks-${entry.index + 1}`,
        title: report.several ? `Rank histogram of ${shortName(entry)}` : "Rank histogram: where among the members did each observation fall?",
        good: "Good: all bars are equally high, nine in ten inside the grey band. A U says that the members lie too close together, a slope that they are biased.",
        alt: sentences([
          `Share of rows by the number of members below the observation, 0 to ${last}.`,
          `${format.count(shares.length, "bar")} from ${format.percent(Math.min(...shares))} to ${format.percent(Math.max(...shares))}, of which ${outside} outside the band.`,
        ]),
        x: { name: "members below the observation", min: -0.5, max: last + 0.5, format: format.integer },
        y: { name: "share of rows", include: [0], ...share },
        layers: [
          {
            kind: "bars", name: "observed share", colour: colourOf(entry),
            at: shares.map((_, i) => i), from: shares.map((_, i) => i - 0.44), to: shares.map((_, i) => i + 0.44), value: shares,
            details: () => [["90% if calibrated", format.range(format.percent(histogram.low), format.percent(histogram.high))]],
          },
          {
            kind: "band", name: "90% of calibrated ensembles", colour: "band", opacity: 0.35, quiet: true,
            at: [-0.5, last + 0.5], low: [histogram.low, histogram.low], high: [histogram.high, histogram.high],
          },
          level("equally high", 1 / shares.length),
        ],
      },
    ];
  });
}

/** With observations that equal the quantile counted by half. */
const below = (q: QuantileScore): number => (q.below + q.at_or_below) / 2;

export function quantiles(report: Report): Chart | null {
  const drawn = report.entries.flatMap((entry): { entry: Entry; list: QuantileScore[] }[] => {
    const list = entry.scores.quantile_scores;
    return list?.length ? [{ entry, list: [...list].sort((a, b) => a.level - b.level) }] : [];
  });
  if (!drawn.length) return null;
  return {
    id: "quantiles",
    title: "Quantiles: how often do observations lie below them?",
    good: "Good: the points lie on the diagonal, within their bars: where they lie with probability 90% if the level is right.",
    alt: sentences([
      "Share of observations below each quantile, against its level.",
      ...drawn.map(({ entry, list }) => `${entry.name}: ${list.map((q) => `${format.percent(below(q))} below the quantile of level ${format.number(q.level)}`).join(", ")}.`),
    ]),
    square: true,
    x: { name: "level of the quantile", min: 0, max: 1, step: 0.2, ...share },
    y: { name: "share of observations below it", min: 0, max: 1, step: 0.2, ...share },
    layers: [
      diagonal("right"),
      ...drawn.flatMap(({ entry, list }): Layer[] => [
        {
          kind: "points", name: named(report, "observed share", entry), colour: colourOf(entry), symbol: symbolOf(entry), size: 8,
          at: list.map((q) => q.level), value: list.map(below),
          details: (i) => [
            ["below", format.percent(list[i]!.below, 2)],
            ["at or below", format.percent(list[i]!.at_or_below, 2)],
            ["quantile score", format.number(list[i]!.score)],
          ],
        },
        {
          kind: "interval", name: named(report, "observed share", entry), label: "90% if the level is right", colour: "ideal", unlisted: true,
          at: list.map((q) => q.level), low: list.map((q) => q.low), high: list.map((q) => q.high),
        },
      ]),
    ],
  };
}

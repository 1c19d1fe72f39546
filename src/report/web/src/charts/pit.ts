import type { Chart, Layer } from "../chart";
import type { Report } from "../data";
import * as format from "../format";
import { colourOf, level, sentences, share, shortName } from "./common";

export function pit(report: Report): Chart | null {
  const entries = report.entries.filter((entry) => entry.forecast.pit?.share.length);
  const first = entries[0]?.forecast.pit;
  if (!first) return null;
  const bars = first.share.length;
  const outside = entries.map(({ name, forecast }) => {
    const p = forecast.pit!;
    const n = p.share.filter((s) => s < (p.low ?? -Infinity) || s > (p.high ?? Infinity)).length;
    return `${name}: ${format.count(p.share.length, "bar")} from ${format.percent(Math.min(...p.share))} to ${format.percent(Math.max(...p.share))}, of which ${n} outside the band.`;
  });
  return {
    id: "pit",
    title: "PIT histogram: where in its distribution did each observation fall?",
    good: "Good: all bars are equally high, nine in ten inside the grey band. A U says sigma is too small, a hump too large, a slope biased.",
    alt: sentences(["Histogram of the probability that the forecast gave to values below the observation.", ...outside]),
    x: { name: "probability below the observation (PIT)", min: 0, max: 1, ...share },
    y: { name: "share of rows", include: [0], ...share },
    layers: [
      ...entries.map((entry, k): Layer => {
        const p = entry.forecast.pit!;
        // Side by side where there are several, with a little air between the bins.
        const edge = (i: number, part: number) => p.edges[i]! + (p.edges[i + 1]! - p.edges[i]!) * (0.06 + 0.88 * part);
        return {
          kind: "bars",
          name: report.several ? shortName(entry) : "observed share",
          colour: colourOf(entry),
          at: p.share.map((_, i) => (p.edges[i]! + p.edges[i + 1]!) / 2),
          from: p.share.map((_, i) => edge(i, k / entries.length)),
          to: p.share.map((_, i) => edge(i, (k + 1) / entries.length)),
          value: p.share,
          details: (i) => [
            ["PIT", format.range(format.percent(p.edges[i], 0), format.percent(p.edges[i + 1], 0))],
            ["90% if calibrated", format.range(format.percent(p.low), format.percent(p.high))],
          ],
        };
      }),
      {
        kind: "band",
        name: "90% of calibrated forecasts",
        colour: "band",
        opacity: 0.35,
        quiet: true,
        at: [0, 1],
        low: [first.low, first.low],
        high: [first.high, first.high],
      },
      level("equally high", 1 / bars),
    ],
  };
}

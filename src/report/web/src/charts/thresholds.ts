// The probability of more than a threshold, and how often that happened.
import type { Chart, Layer } from "../chart";
import type { Report } from "../data";
import * as format from "../format";
import { colourOf, dashOf, diagonal, sentences, share, shortName } from "./common";

export function thresholds(report: Report): Chart[] {
  const all = [...new Set(report.entries.flatMap(({ scores }) => (scores.exceed ?? []).map((e) => e.threshold)))];
  return all.map((threshold, k): Chart => {
    const drawn = report.entries.flatMap((entry) => {
      const own = entry.scores.exceed?.find((e) => e.threshold === threshold);
      return own ? [{ entry, own }] : [];
    });
    const { observation = "observation" } = report.data.columns;
    return {
      id: `threshold-${k + 1}`,
      title: `${observation} above ${format.number(threshold)}: do the probabilities come true?`,
      good: "Good: the curve follows the diagonal, inside the band of what calibrated probabilities would show.",
      alt: sentences([
        `How often observations lie above ${format.number(threshold)}, against the probability that the forecast gave.`,
        ...drawn.map(({ entry, own }) => `${entry.name}: expected in ${format.percent(own.forecast)} of the rows, happened in ${format.percent(own.observed)}; Brier score ${format.number(own.brier.score)}.`),
      ]),
      square: true,
      x: { name: "probability that the forecast gives", min: 0, max: 1, step: 0.2, ...share },
      y: { name: "share that happened", min: 0, max: 1, step: 0.2, ...share },
      layers: [
        diagonal("calibrated"),
        ...drawn.flatMap(({ entry, own }): Layer[] => {
          const { probability: at, observed, band_90_pointwise: band } = own.reliability;
          return [
            {
              kind: "band", name: report.several ? shortName(entry) : "if calibrated, 90%", label: "if calibrated, 90%", at, low: band.low, high: band.high,
              colour: report.several ? colourOf(entry) : "band", opacity: report.several ? 0.12 : 0.3,
            },
            { kind: "line", name: report.several ? shortName(entry) : "share that happened", colour: colourOf(entry), dash: dashOf(entry), at, value: observed },
          ];
        }),
      ],
    };
  });
}

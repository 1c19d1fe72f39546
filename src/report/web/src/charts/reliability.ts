import type { Chart, Layer } from "../chart";
import type { Band, Entry, Report } from "../data";
import * as format from "../format";
import { colourOf, dashOf, diagonal, level, named, sentences, share, shortName } from "./common";

type Shift = (value: number | null, i: number) => number | null;

/** Bands around the diagonal, the same for all forecasts of as many rows; groups' bands around each curve; the curves. */
function layers(report: Report, entries: Entry[], shift: Shift, whole: boolean): Layer[] {
  const bandLayer = (at: number[], band: Band | undefined, rest: Pick<Layer, "name" | "label" | "colour" | "opacity">): Layer[] =>
    band ? [{ kind: "band", at, low: band.low.map(shift), high: band.high.map(shift), ...rest }] : [];
  const first = entries[0]!.scores.reliability_diagram!;
  return [
    ...bandLayer(first.probability, first.band_90_simultaneous, {
      name: "if calibrated: whole curve, 90%",
      colour: "band",
      opacity: 0.2,
    }),
    ...bandLayer(first.probability, first.band_90_pointwise, {
      name: "if calibrated: at each point, 90%",
      colour: "band",
      opacity: 0.3,
    }),
    ...entries.flatMap((entry) => {
      const diagram = entry.scores.reliability_diagram!;
      return [
        ...bandLayer(diagram.probability, diagram.group_band_90_simultaneous, {
          name: "groups resampled: whole curve, 90%",
          label: named(report, "groups resampled, 90%", entry),
          colour: colourOf(entry),
          opacity: 0.15,
        }),
        ...(report.several
          ? []
          : bandLayer(diagram.probability, diagram.group_band_90_pointwise, {
              name: "groups resampled: at each point, 90%",
              colour: colourOf(entry),
              opacity: 0.25,
            })),
      ];
    }),
    whole ? diagonal("perfectly calibrated") : level("perfectly calibrated", 0),
    ...entries.map((entry): Layer => {
      const diagram = entry.scores.reliability_diagram!;
      return {
        kind: "line",
        name: report.several ? shortName(entry) : whole ? "observed share" : "deviation",
        colour: colourOf(entry),
        dash: dashOf(entry),
        at: diagram.probability,
        value: diagram.observed.map(shift),
      };
    }),
  ];
}

const distance = (entry: Entry): string =>
  `The curve of ${entry.name} is at most ${format.percent((entry.scores.calibration_error_percent ?? NaN) / 100)} from the diagonal; ` +
  `a calibrated forecast of as many rows shows ${format.percent((entry.scores.calibration_floor_percent ?? NaN) / 100)}.`;

export function reliability(report: Report): Chart | null {
  const entries = report.entries.filter((entry) => entry.scores.reliability_diagram?.observed.length);
  if (!entries.length) return null;
  const groups = entries.some((entry) => entry.scores.reliability_diagram!.group_band_90_simultaneous);
  return {
    id: "reliability",
    title: "Reliability: do probabilities come true?",
    good: "Good: the curve runs along the diagonal, inside the grey band.",
    alt: sentences([
      "Reliability diagram: share of observations below each quantile of the forecast, against that quantile's probability.",
      ...entries.map(distance),
    ]),
    note: groups
      ? "Rows of one group are not independent: trust the coloured band around the curve, from resampled groups, and ask whether the diagonal lies inside."
      : undefined,
    square: true,
    x: { name: "probability that the forecast gives", min: 0, max: 1, step: 0.2, ...share },
    y: { name: "share of observations", min: 0, max: 1, step: 0.2, ...share },
    layers: layers(report, entries, (value) => value, true),
  };
}

export function deviation(report: Report): Chart | null {
  const entries = report.entries.filter((entry) => entry.scores.reliability_diagram?.observed.length);
  if (!entries.length) return null;
  const grid = entries[0]!.scores.reliability_diagram!.probability;
  const extremes = entries.map((entry) => {
    const diagram = entry.scores.reliability_diagram!;
    const off = diagram.observed.map((value, i) => (value ?? NaN) - diagram.probability[i]!);
    const at = off.reduce((best, v, i) => (Math.abs(v) > Math.abs(off[best]!) ? i : best), 0);
    return `${entry.name} is furthest off at probability ${format.percent(grid[at], 0)}, by ${format.signed(off[at])}.`;
  });
  return {
    id: "reliability-deviation",
    title: "The same, less the diagonal",
    good: "Good: the curve stays inside the grey band around zero. Above zero on the left and below on the right: sigma is too small.",
    alt: sentences(["Observed share less the probability given, against that probability.", ...extremes]),
    square: true,
    x: { name: "probability that the forecast gives", min: 0, max: 1, step: 0.2, ...share },
    y: {
      name: "observed share less probability",
      format: (v) => format.signed(v, 2),
      tick: (v) => (v > 0 ? "+" : "") + format.shareTick(v),
    },
    layers: layers(report, entries, (value, i) => (value == null ? null : value - grid[i]!), false),
  };
}

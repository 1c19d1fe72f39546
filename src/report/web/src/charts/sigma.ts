// Does sigma follow the spread of the errors? Along each input, and along sigma itself.
import type { Chart, Layer } from "../chart";
import type { Bins, Entry, Report } from "../data";
import * as format from "../format";
import { binDetails, colourOf, dashOf, diagonal, named, observedNames, sentences, symbolOf } from "./common";

const held = (bins: Bins): number =>
  bins.sigma.filter((s, i) => s != null && s >= (bins.rmse_low[i] ?? Infinity) && s <= (bins.rmse_high[i] ?? -Infinity)).length;

const heldAlt = (entry: Entry, bins: Bins): string =>
  `${entry.name}: sigma lies in the 90% interval of the observed error in ${held(bins)} of ${format.count(bins.x.length, "bin")}; ` +
  `sigma ranges from ${format.number(smallest(bins.sigma), 3)} to ${format.number(largest(bins.sigma), 3)}, the observed error from ${format.number(smallest(bins.rmse), 3)} to ${format.number(largest(bins.rmse), 3)}.`;

const defined = (values: (number | null)[]): number[] => values.filter((v): v is number => v != null);
const smallest = (values: (number | null)[]): number => Math.min(...defined(values));
const largest = (values: (number | null)[]): number => Math.max(...defined(values));

function observedLayers(drawn: { entry: Entry; bins: Bins }[]): Layer[] {
  const names = observedNames(drawn, ({ x, rmse }) => [x, rmse]);
  return drawn.flatMap(({ entry, bins }, i): Layer[] => {
    if (names[i] === null) return [];
    const name = `observed error (rms)${names[i]}`;
    const common = { name, colour: "observed", at: bins.x } as const;
    return [
      { ...common, kind: "points", symbol: symbolOf(entry), size: 7, value: bins.rmse, details: binDetails(bins) },
      { ...common, kind: "interval", label: "its 90% interval", low: bins.rmse_low, high: bins.rmse_high, unlisted: true },
    ];
  });
}

export function alongInputs(report: Report): Chart[] {
  const names = [...new Set(report.entries.flatMap((entry) => entry.forecast.inputs.map((input) => input.name)))];
  return names.flatMap((name, index): Chart[] => {
    const drawn = report.entries.flatMap((entry) => {
      const bins = entry.forecast.inputs.find((input) => input.name === name)?.bins;
      return bins?.x.length ? [{ entry, bins }] : [];
    });
    if (!drawn.length) return [];
    return [
      {
        id: `input-${index + 1}`,
        title: `Sigma along ${name}`,
        good: "Good: the line runs through the bars of what was observed.",
        alt: sentences([`Root mean square sigma and error in bins of ${name}.`, ...drawn.map(({ entry, bins }) => heldAlt(entry, bins))]),
        x: { name, format: (v) => format.number(v) },
        y: { name: "sigma, and error (root mean square)", include: [0] },
        layers: [
          ...observedLayers(drawn),
          ...drawn.map(({ entry, bins }): Layer => ({
            kind: "line", name: named(report, "sigma", entry), colour: colourOf(entry), dash: dashOf(entry), symbol: "circle",
            at: bins.x, value: bins.sigma,
          })),
        ],
      },
    ];
  });
}

export function spreadSkill(report: Report): Chart | null {
  const drawn = report.entries.flatMap((entry) => {
    const bins = entry.forecast.spread_skill;
    return bins?.x.length ? [{ entry, bins }] : [];
  });
  if (!drawn.length) return null;
  const values = drawn.flatMap(({ bins }) => [...defined(bins.sigma), ...defined(bins.rmse)]);
  const wide = Math.min(...values) > 0 && Math.max(...values) > 20 * Math.min(...values);
  const scale = wide ? "log" : "linear";
  // On equal ranges the diagonal is one of 45 degrees.
  const include = [...(wide ? [] : [0]), ...defined(drawn.flatMap(({ bins }) => [...bins.sigma, ...bins.rmse_low, ...bins.rmse_high])).filter((v) => !wide || v > 0)];
  return {
    id: "spread-skill",
    title: "Spread and skill: where sigma is large, are the errors large?",
    good: "Good: the points lie on the diagonal. Below it sigma is too large, above it too small.",
    alt: sentences(["Root mean square error against root mean square sigma, in bins of sigma.", ...drawn.map(({ entry, bins }) => heldAlt(entry, bins))]),
    square: true,
    x: { name: "sigma (root mean square of a bin)", scale, include },
    y: { name: "error (root mean square)", scale, include },
    layers: [
      diagonal("error = sigma"),
      ...drawn.flatMap(({ entry, bins }): Layer[] => {
        const at = bins.sigma.map((s) => s ?? NaN);
        return [
          {
            kind: "points", name: named(report, "observed error", entry), colour: colourOf(entry), symbol: symbolOf(entry), size: 8,
            at, value: bins.rmse, details: binDetails(bins),
          },
          {
            kind: "interval", name: named(report, "observed error", entry), label: "its 90% interval",
            colour: colourOf(entry), at, low: bins.rmse_low, high: bins.rmse_high, unlisted: true,
          },
        ];
      }),
    ],
  };
}

// Does the forecast follow the spread of the errors? Along each input, and along its own width.
import type { Chart, Layer } from "../chart";
import type { Entry, ErrorBins, Report } from "../data";
import * as format from "../format";
import { binDetails, colourOf, diagonal, named, sentences, symbolOf } from "./common";
import { errorAxis, errorLayers, errorsAlt, goodErrors } from "./errors";

const defined = (values: (number | null)[]): number[] => values.filter((v): v is number => v != null);

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
        title: `Errors along ${name}`,
        good: goodErrors,
        alt: sentences([`Quantiles of the errors in bins of ${name}, as forecast and as observed.`, ...drawn.map(errorsAlt)]),
        x: { name, format: (v) => format.number(v) },
        y: { name: errorAxis, include: [0] },
        layers: errorLayers(report, drawn, (_, bins) => bins.x),
      },
    ];
  });
}

const widthsAlt = ({ entry, bins }: { entry: Entry; bins: ErrorBins }): string => {
  const held = bins.width.filter((v, i) => v != null && v >= (bins.observed_width_low[i] ?? Infinity) && v <= (bins.observed_width_high[i] ?? -Infinity)).length;
  const range = (values: (number | null)[]) => format.range(format.number(Math.min(...defined(values)), 3), format.number(Math.max(...defined(values)), 3));
  return (
    `${entry.name}: the forecast's width lies in the 90% interval of the observed one in ${held} of ${format.count(bins.x.length, "bin")}; ` +
    `it ranges from ${range(bins.width)}, the observed one from ${range(bins.observed_width)}.`
  );
};

export function spreadSkill(report: Report): Chart | null {
  const drawn = report.entries.flatMap((entry) => {
    const bins = entry.forecast.spread_skill;
    return bins?.x.length ? [{ entry, bins }] : [];
  });
  if (!drawn.length) return null;
  const values = drawn.flatMap(({ bins }) => [...defined(bins.width), ...defined(bins.observed_width)]);
  const wide = Math.min(...values) > 0 && Math.max(...values) > 20 * Math.min(...values);
  const scale = wide ? "log" : "linear";
  // On equal ranges the diagonal is one of 45 degrees.
  const include = [
    ...(wide ? [] : [0]),
    ...defined(drawn.flatMap(({ bins }) => [...bins.width, ...bins.observed_width_low, ...bins.observed_width_high])).filter((v) => !wide || v > 0),
  ];
  return {
    id: "spread-skill",
    title: "Spread and skill: where the forecast is wide, are the errors wide?",
    good: "Good: the points lie on the diagonal. Below it the forecast is too wide, above it too narrow.",
    alt: sentences(["Width of the middle 90% of the errors, observed against forecast, in bins of sigma.", ...drawn.map(widthsAlt)]),
    square: true,
    x: { name: "forecast: width of the middle 90%", scale, include },
    y: { name: "errors: width of the middle 90%", scale, include },
    layers: [
      diagonal("observed = forecast"),
      ...drawn.flatMap(({ entry, bins }): Layer[] => {
        const at = bins.width.map((v) => v ?? NaN);
        return [
          {
            kind: "points", name: named(report, "observed width", entry), colour: colourOf(entry), symbol: symbolOf(entry), size: 8,
            at, value: bins.observed_width, details: (i) => [...binDetails(bins)(i), ["sigma", format.number(bins.sigma[i])]],
          },
          {
            kind: "interval", name: named(report, "observed width", entry), label: "its 90% interval",
            colour: colourOf(entry), at, low: bins.observed_width_low, high: bins.observed_width_high, unlisted: true,
          },
        ];
      }),
    ],
  };
}

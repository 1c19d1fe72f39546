// Errors in bins: what the forecast says about their 5%, 50% and 95% quantiles, and what these were.
import type { Layer } from "../chart";
import type { Entry, ErrorBins, Report, Value } from "../data";
import * as format from "../format";
import { binDetails, colourOf, dashOf, observedNames, ofForecast, symbolOf } from "./common";

export interface DrawnBins {
  entry: Entry;
  bins: ErrorBins;
}

interface Quantile {
  name: string;
  forecast: (bins: ErrorBins) => Value[];
  observed: (bins: ErrorBins) => Value[];
  low: (bins: ErrorBins) => Value[];
  high: (bins: ErrorBins) => Value[];
}

const quantiles: Quantile[] = [
  { name: "5%", forecast: (b) => b.q05, observed: (b) => b.observed_q05, low: (b) => b.observed_q05_low, high: (b) => b.observed_q05_high },
  { name: "50%", forecast: (b) => b.q50, observed: (b) => b.observed_q50, low: (b) => b.observed_q50_low, high: (b) => b.observed_q50_high },
  { name: "95%", forecast: (b) => b.q95, observed: (b) => b.observed_q95, low: (b) => b.observed_q95_low, high: (b) => b.observed_q95_high },
];

export const errorAxis = "error: observation less forecast mean";

export const goodErrors = "Good: the dots, what was observed, lie at the edges of the band and on the line in its middle, within their bars.";

/** In how many bins each of the forecast's quantiles lies in the interval of the observed one. */
export const errorsAlt = ({ entry, bins }: DrawnBins): string => {
  const held = quantiles.map(({ name, forecast, low, high }) => {
    const inside = forecast(bins).filter((v, i) => v != null && v >= (low(bins)[i] ?? Infinity) && v <= (high(bins)[i] ?? -Infinity));
    return `${inside.length} for ${name}`;
  });
  return `${entry.name}: of ${format.count(bins.x.length, "bin")} those where the forecast's quantile lies in the 90% interval of the observed one: ${held.join(", ")}.`;
};

export function errorLayers(report: Report, drawn: DrawnBins[], along: (entry: Entry, bins: ErrorBins) => number[], text: (v: number) => string = format.number): Layer[] {
  const names = observedNames(drawn, (bins) => [bins.x, bins.observed_q05, bins.observed_q50, bins.observed_q95]);
  const forecasts = drawn.flatMap(({ entry, bins }): Layer[] => {
    const at = along(entry, bins);
    const colour = colourOf(entry);
    const forecast = (what: string) => ofForecast(report, what, entry);
    return [
      { kind: "band", ...forecast("5% to 95%"), colour, opacity: 0.18, at, low: bins.q05, high: bins.q95, details: binDetails(bins, text) },
      { kind: "line", ...forecast("5%"), colour, dash: dashOf(entry), width: 1.2, at, value: bins.q05, quiet: true, unlisted: true },
      { kind: "line", ...forecast("95%"), colour, dash: dashOf(entry), width: 1.2, at, value: bins.q95, quiet: true, unlisted: true },
      { kind: "line", ...forecast("median"), colour, dash: dashOf(entry), width: 2, at, value: bins.q50 },
    ];
  });
  const observations = drawn.flatMap(({ entry, bins }, i): Layer[] => {
    if (names[i] === null) return [];
    const common = { name: `observed 5%, 50%, 95%${names[i]}`, colour: "observed", at: along(entry, bins) } as const;
    return quantiles.flatMap(({ name, observed, low, high }): Layer[] => [
      { ...common, kind: "points", label: `observed ${name}${names[i]}`, symbol: symbolOf(entry), size: 6, value: observed(bins) },
      { ...common, kind: "interval", label: "its 90% interval", low: low(bins), high: high(bins), unlisted: true },
    ]);
  });
  return [...forecasts, ...observations];
}

// What the charts share: how forecasts look and are named, and the meaning of bins.
import type { Axis, Layer, Symbol } from "../chart";
import type { Entry, Report } from "../data";
import * as format from "../format";
import { forecastRole, round, type Role } from "../theme";

const symbols: Symbol[] = ["circle", "diamond", "triangle", "rect"];

export const colourOf = (entry: Entry): Role => forecastRole(entry.index);
export const symbolOf = (entry: Entry): Symbol => symbols[entry.index % symbols.length]!;
/** Colours come round; then the dashes tell. */
export const dashOf = (entry: Entry): boolean => round(entry.index) > 0;

export const shortName = (entry: Entry): string => format.shorten(entry.label, 40);

/** "sigma", or with several forecasts "sigma of model.json". */
export const named = (report: Report, what: string, entry: Entry): string =>
  report.several ? `${what} of ${shortName(entry)}` : what;

/** The layer's legend entry; with several forecasts one for all that belongs to a forecast. */
export const ofForecast = (report: Report, what: string, entry: Entry): { name: string; label: string } =>
  report.several
    ? { name: shortName(entry), label: `${shortName(entry)}: ${what}` }
    : { name: `forecast: ${what}`, label: `forecast: ${what}` };

/** How each forecast's view of the observations is called; null where an earlier forecast, of the same mean, has the same. */
export function observedNames<Bins>(drawn: { entry: Entry; bins: Bins }[], seen: (bins: Bins) => unknown): (string | null)[] {
  const keys = drawn.map(({ bins }) => JSON.stringify(seen(bins)));
  const alike = new Set(keys).size === 1;
  return drawn.map(({ entry }, i) => (keys.indexOf(keys[i]!) < i ? null : alike ? "" : `, around ${shortName(entry)}`));
}

export const share: Partial<Axis> = { format: (v) => format.percent(v, 1), tick: format.shareTick };

/** An axis of coverages from below the smallest to 100%, whose ticks 100% is one of. */
export function coverageAxis(wanted: number, values: (number | null)[]): Partial<Axis> {
  const least = values.reduce<number>((best, v) => Math.min(best, v ?? 1), wanted);
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((s) => (1 - least) / s <= 6) ?? 0.25;
  return { ...share, min: Math.max(0, 1 - step * Math.ceil((1 - least) / step + 0.1)), max: 1, step };
}

export const binDetails =
  (bins: { low: number[]; high: number[]; rows: number[] }, text: (value: number) => string = format.number) =>
  (i: number): [string, string][] => [
    ["bin", bins.low[i] === bins.high[i] ? text(bins.low[i]!) : format.range(text(bins.low[i]!), text(bins.high[i]!))],
    ["rows", format.integer(bins.rows[i]!)],
  ];

export const diagonal = (name: string): Layer => ({
  kind: "reference",
  name,
  colour: "ideal",
  through: [
    [0.5, 0.5],
    [1, 1],
  ],
});

export const level = (name: string, value: number): Layer => ({
  kind: "reference",
  name,
  colour: "ideal",
  through: [
    [0, value],
    [1, value],
  ],
});

/** "rmse_of_lead", "a, b and c" */
export const listed = (names: string[]): string =>
  names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

export const sentences = (parts: (string | false | undefined)[]): string => parts.filter(Boolean).join(" ");

// Accuracy against reliability: what other balances gave on held-out rows.
import type { Chart, Layer } from "../chart";
import type { Balance, Entry, Report, Value } from "../data";
import * as format from "../format";
import { colourOf, sentences, shortName, symbolOf } from "./common";

const withError = (value: Value | undefined, error: Value | undefined, text: (v: Value | undefined) => string = (v) => format.number(v)): string =>
  error == null ? text(value) : `${text(value)} ± ${text(error)}`;

const short = (value: Value | undefined): string => format.number(value, 3);

/** Strokes of one standard error to each side, up and across. */
function errorBars(front: Balance[], colour: Layer["colour"], crps: (one: Balance) => Value, rs: (one: Balance) => Value): Layer[] {
  const common = { name: "standard errors", colour, width: 1.2, quiet: true } as const;
  const ends = (value: Value, error: Value) => (value == null || error == null ? [NaN, NaN] : [value - error, value + error]) as [number, number];
  const up = front.map((one) => ends(one.crps, crps(one)));
  return [
    { ...common, kind: "interval", caps: false, at: front.map((one) => one.rs ?? NaN), low: up.map(([low]) => low), high: up.map(([, high]) => high) },
    {
      ...common,
      kind: "line",
      unlisted: true,
      // A gap after each stroke.
      at: front.flatMap((one) => [...ends(one.rs, rs(one)), NaN]),
      value: front.flatMap((one) => [one.crps, one.crps, null]),
    },
  ];
}

function chart(report: Report, entry: Entry, front: Balance[]): Chart {
  const colour = colourOf(entry);
  const at = front.map((one) => one.rs ?? NaN);
  const own = front.filter((one) => one.taken);
  const least = (pick: (one: Balance) => Value) => front.reduce((best, one) => ((pick(one) ?? Infinity) < (pick(best) ?? Infinity) ? one : best));
  const [accurate, reliable] = [least((one) => one.crps), least((one) => one.rs)];
  const nameOf = (one: Balance) => format.number(one.balance) + (one.taken ? " (the model)" : "");
  const labelled = (some: Balance[]) => ({ of: "balance", texts: some.map(nameOf) });
  const points: Layer = {
    kind: "points",
    name: "balance",
    label: "CRPS",
    colour,
    symbol: symbolOf(entry),
    size: 9,
    at,
    value: front.map((one) => one.crps),
    labels: labelled(front),
    details: (i) => {
      const one = front[i]!;
      return [
        ["standard error of the CRPS", short(one.crps_se)],
        ["standard error of the reliability score", short(one.rs_se)],
        ["calibration error", withError(one.calibration_error_percent, one.calibration_error_se_percent, (v) => format.percent((v ?? NaN) / 100, 2))],
        ...(one.taken
          ? []
          : ([
              ["CRPS less the model's", withError(one.crps_difference, one.crps_difference_se, short)],
              ["reliability score less the model's", withError(one.rs_difference, one.rs_difference_se, short)],
            ] as [string, string][])),
      ];
    },
  };
  const layers = (crps: (one: Balance) => Value, rs: (one: Balance) => Value): Layer[] => [
    { kind: "line", name: "balance", colour, width: 1, opacity: 0.5, quiet: true, unlisted: true, at, value: front.map((one) => one.crps) },
    ...errorBars(front, colour, crps, rs),
    points,
    {
      kind: "points", name: "the model", colour: "observed", ring: true, size: 17, quiet: true,
      at: own.map((one) => one.rs ?? NaN), value: own.map((one) => one.crps), labels: labelled(own),
    },
  ];
  const alt = sentences([
    `CRPS against the reliability score of ${format.count(front.length, "balance")} on held-out rows.`,
    ...own.map((one) => `The model has balance ${format.number(one.balance)}: CRPS ${withError(one.crps, one.crps_se)}, reliability score ${withError(one.rs, one.rs_se, short)}.`),
    `The CRPS is lowest at balance ${format.number(accurate.balance)}: ${format.number(accurate.crps)}; the reliability score at ${format.number(reliable.balance)}: ${short(reliable.rs)}.`,
  ]);
  const options = [
    { name: "of differences from the model", alt, layers: layers((one) => one.crps_difference_se, (one) => one.rs_difference_se) },
    { name: "of each balance by itself", alt, layers: layers((one) => one.crps_se, (one) => one.rs_se) },
  ];
  return {
    id: report.several ? `balance-${entry.index + 1}` : "balance",
    title: report.several ? `Balances of ${shortName(entry)}` : "CRPS and reliability score of each balance",
    good: "Good: no balance lies clearly below the model, which is more accurate, and to the left of it, which is more reliable.",
    alt,
    note: "Held-out rows, before recalibration. Balance 1 is accuracy alone, 0 reliability alone. A bar is one standard error to each side; those of differences say whether a balance is better than the model, since all are judged by the same rows.",
    read: "nearest",
    x: { name: "reliability score", format: short },
    y: { name: "CRPS", format: (v) => format.number(v) },
    layers: options[0]!.layers,
    choices: { label: "Standard errors", options },
  };
}

export const balances = (report: Report): Chart[] =>
  report.entries.flatMap((entry) => {
    const front = entry.forecast.fit?.balance_front ?? [];
    return front.length > 1 ? [chart(report, entry, front)] : [];
  });

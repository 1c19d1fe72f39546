// Observations around the forecasts, along the prediction and along time: every row where there are few, else bins.
import type { Axis, Chart, Layer } from "../chart";
import type { Entry, FanBins, Report, Rows } from "../data";
import * as format from "../format";
import { binDetails, colourOf, dashOf, diagonal, named, observedNames, ofForecast, sentences, symbolOf } from "./common";
import { errorAxis, errorLayers, errorsAlt, goodErrors } from "./errors";

const rowDetails = (rows: Rows, time?: (value: number) => string) => (i: number): [string, string][] => [
  ["forecast mean", format.number(rows.mean[i])],
  ["sigma", format.number(rows.sigma[i])],
  ["90% interval", format.range(format.number(rows.q05[i]), format.number(rows.q95[i]))],
  ...(time && rows.time ? [["time", time(rows.time[i]!)] as [string, string]] : []),
];

const inside = (rows: Rows): number =>
  rows.observation.filter((y, i) => y >= rows.q05[i]! && y <= rows.q95[i]!).length;

const rowsAlt = (entries: Entry[]): string[] =>
  entries.map(({ name, forecast }) => {
    const rows = forecast.rows!;
    return `${name}: ${inside(rows)} of ${format.count(rows.mean.length, "row")} lie in their 90% interval.`;
  });

const binsAlt = (drawn: { entry: Entry; bins: FanBins }[]): string[] =>
  drawn.map(({ entry, bins }) => {
    const kept = bins.x.filter(
      (_, i) => bins.observed_q50[i] != null && bins.q25[i] != null && bins.q75[i] != null &&
        bins.observed_q50[i]! >= bins.q25[i]! && bins.observed_q50[i]! <= bins.q75[i]!,
    ).length;
    return `${entry.name}: in ${kept} of ${format.count(bins.x.length, "bin")} the observed median lies in the middle half of the forecast.`;
  });

/** The forecasts' fans, and beside them the observed quantiles of the same bins. */
function fanLayers(report: Report, drawn: { entry: Entry; bins: FanBins }[]): Layer[] {
  const names = observedNames(drawn, (bins) => [bins.x, bins.observed_q05, bins.observed_q50]);
  const fans = drawn.flatMap(({ entry, bins }): Layer[] => {
    const at = bins.x;
    const colour = colourOf(entry);
    const forecast = (what: string) => ofForecast(report, what, entry);
    return [
      { kind: "line", ...forecast("median"), colour, dash: dashOf(entry), width: 1.6, at, value: bins.q50, details: binDetails(bins) },
      { kind: "band", ...forecast("90%"), colour, opacity: 0.18, at, low: bins.q05, high: bins.q95 },
      ...(report.several ? [] : [{ kind: "band", ...forecast("50%"), colour, opacity: 0.3, at, low: bins.q25, high: bins.q75 } as Layer]),
    ];
  });
  const observations = drawn.flatMap(({ entry, bins }, i): Layer[] => {
    if (names[i] === null) return [];
    const observed = (what: string) => ({
      name: report.several ? `observed${names[i]}` : `observed ${what}`,
      label: `observed ${what}${names[i]}`,
      colour: "observed" as const,
      at: bins.x,
    });
    return [
      { kind: "points", ...observed("median"), value: bins.observed_q50, symbol: symbolOf(entry), size: 6 },
      { kind: "interval", ...observed("90%"), low: bins.observed_q05, high: bins.observed_q95, width: 1 },
      { kind: "interval", ...observed("50%"), low: bins.observed_q25, high: bins.observed_q75, width: 3, caps: false },
    ];
  });
  return [...fans, ...observations];
}

export function alongPrediction(report: Report): Chart | null {
  const { observation = "observation", prediction = "prediction" } = report.data.columns;
  const scatter = report.entries.filter((entry) => entry.forecast.rows?.mean.length);
  const binned = report.entries.filter((entry) => entry.forecast.along_prediction?.x.length);
  if (!scatter.length && !binned.length) return null;
  const common = {
    id: "predictions",
    title: "Observed against predicted",
    x: { name: `forecast mean of ${prediction}` },
    y: { name: observation },
  };
  if (scatter.length) {
    return {
      ...common,
      good: "Good: observations scatter around the diagonal, and nine in ten lie on their bar.",
      alt: sentences(["Every row: the observation against the forecast's mean, with the forecast's 90% interval.", ...rowsAlt(scatter)]),
      read: "nearest",
      layers: [
        ...scatter.map((entry): Layer => {
          const rows = entry.forecast.rows!;
          return {
            kind: "interval", name: named(report, "90% interval", entry), colour: colourOf(entry),
            opacity: rows.mean.length > 200 ? 0.3 : 0.5, width: rows.mean.length > 200 ? 1 : 2, caps: false, quiet: true,
            at: rows.mean, low: rows.q05, high: rows.q95,
          };
        }),
        diagonal("observed = predicted"),
        ...scatter.map((entry): Layer => {
          const rows = entry.forecast.rows!;
          return {
            kind: "points", name: named(report, "observation", entry), colour: report.several ? colourOf(entry) : "observed",
            symbol: symbolOf(entry), size: rows.mean.length > 200 ? 4 : 6, opacity: 0.8,
            at: rows.mean, value: rows.observation, details: rowDetails(rows, timeText(entry)),
          };
        }),
      ],
    };
  }
  const fans = binned.map((entry) => ({ entry, bins: entry.forecast.along_prediction! }));
  return {
    ...common,
    good: "Good: the observed median lies on the forecast's, and the observed bars are as long as the forecast's bands are wide.",
    alt: sentences(["Quantiles of the observations and of the forecasts, in bins of the forecast mean.", ...binsAlt(fans)]),
    layers: [...fanLayers(report, fans), diagonal("observed = predicted")],
  };
}

const inSeconds = (entry: Entry): boolean => entry.forecast.time_unit === "seconds";
const timeText = (entry: Entry) => (inSeconds(entry) ? format.isoTime : (v: number) => format.number(v, 6));
const places = (entry: Entry, time: number[]): number[] => (inSeconds(entry) ? time.map((t) => 1000 * t) : time);

/** Rows make a fan only when each has a time of its own. */
const oneEach = (rows: Rows | null): rows is Rows & { time: number[] } =>
  !!rows?.time && rows.time.length > 1 && rows.time.every((t, i) => i === 0 || t > rows.time![i - 1]!);

export function alongTime(report: Report): Chart | null {
  const { observation = "observation", time = "time" } = report.data.columns;
  const fans = report.entries.filter((entry) => oneEach(entry.forecast.rows));
  const binned = report.entries.filter((entry) => entry.forecast.along_time?.x.length);
  const first = fans[0] ?? binned[0];
  if (!first) return null;
  const x: Axis = inSeconds(first) ? { name: `${time} (UTC)`, scale: "time" } : { name: time, format: timeText(first) };
  const common = { id: "time", title: "Observed and predicted along time", x, y: { name: observation } };
  if (fans.length) {
    const observed = fans[0]!.forecast.rows!;
    return {
      ...common,
      good: "Good: nine in ten observations lie inside the band, and it widens where they scatter.",
      alt: sentences(["Every row along time: the observation, and the forecast with its 90% band.", ...rowsAlt(fans)]),
      layers: [
        ...fans.flatMap((entry): Layer[] => {
          const rows = entry.forecast.rows!;
          const at = places(entry, rows.time!);
          const forecast = (what: string) => ofForecast(report, what, entry);
          return [
            { kind: "band", ...forecast("90%"), colour: colourOf(entry), opacity: 0.25, at, low: rows.q05, high: rows.q95 },
            { kind: "line", ...forecast("mean"), colour: colourOf(entry), dash: dashOf(entry), width: 1.6, at, value: rows.mean },
          ];
        }),
        {
          kind: "points", name: "observation", colour: "observed", size: observed.mean.length > 200 ? 3 : 5,
          at: places(fans[0]!, observed.time!), value: observed.observation,
        },
      ],
    };
  }
  const drawn = binned.map((entry) => ({ entry, bins: entry.forecast.along_time! }));
  return {
    ...common,
    title: "Errors along time",
    y: { name: errorAxis, include: [0] },
    good: goodErrors,
    alt: sentences(["Quantiles of the errors in bins of time, as forecast and as observed.", ...drawn.map(errorsAlt)]),
    layers: errorLayers(report, drawn, (entry, bins) => places(entry, bins.x), timeText(first)),
  };
}

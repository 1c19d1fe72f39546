// A model through time: a replay's figures per period, and the evidence of a monitor.
import type { Axis, Chart, Layer } from "../chart";
import type { Report, Value } from "../data";
import * as format from "../format";
import { colourOf, coverageAxis, dashOf, listed, sentences, share, symbolOf } from "./common";

interface Clock {
  axis: Axis;
  places: (times: number[]) => number[];
  text: (time: number) => string;
}

function clockOf(report: Report, unit: "seconds" | "number"): Clock {
  const { time = "time" } = report.data.columns;
  return unit === "seconds"
    ? { axis: { name: `${time} (UTC)`, scale: "time" }, places: (times) => times.map((t) => 1000 * t), text: format.isoTime }
    : { axis: { name: time, format: (v) => format.number(v, 6) }, places: (times) => times, text: (v) => format.number(v, 6) };
}

/** A level over the whole of a time axis, whose places may be far from 0 and 1. */
const levelOver = (name: string, value: number, at: number[]): Layer => {
  const [from, to] = [Math.min(...at), Math.max(...at)];
  return {
    kind: "reference",
    name,
    colour: "ideal",
    through: [
      [from, value],
      [to > from ? to : from + 1, value],
    ],
  };
};

const mean = (values: Value[]): number => {
  const known = values.filter((v): v is number => v != null);
  return known.reduce((sum, v) => sum + v, 0) / known.length;
};

export function throughTime(report: Report): Chart[] {
  const data = report.data.through_time;
  if (!data?.from.length) return [];
  const { axis, places, text } = clockOf(report, data.time_unit);
  const from = places(data.from);
  const to = places(data.to);
  const at = from.map((start, i) => (start + to[i]!) / 2);
  const own = data.forecasts.flatMap((figures, i) => (report.entries[i] ? [{ entry: report.entries[i]!, figures }] : []));
  const period = (rows: number[]) => (i: number): [string, string][] => [
    ["period", format.range(text(data.from[i]!), text(data.to[i]!))],
    ["rows", format.integer(rows[i])],
  ];
  const lines = (pick: (figures: (typeof own)[number]["figures"]) => Value[]): Layer[] =>
    own.flatMap(({ entry, figures }): Layer[] => {
      const common = { name: entry.label, colour: colourOf(entry), at, value: pick(figures) };
      return [
        { ...common, kind: "line", width: 2, dash: dashOf(entry), quiet: true, unlisted: true },
        { ...common, kind: "points", symbol: symbolOf(entry), size: 8, details: period(figures.rows) },
      ];
    });
  const means = (pick: (figures: (typeof own)[number]["figures"]) => Value[], show: (v: number) => string): string[] =>
    own.map(({ entry, figures }) => {
      const values = pick(figures);
      return `${entry.label}: from ${show(values[0] ?? NaN)} in the first period to ${show(values.at(-1) ?? NaN)} in the last, ${show(mean(values))} on average.`;
    });
  const names = listed(own.map(({ entry }) => entry.label));
  const level = format.percent(data.level, 0);
  return [
    {
      id: "through-time-crps",
      title: "CRPS along time",
      good: "Good: the model that learns lies below the static one, most of all where the world has moved.",
      alt: sentences([`CRPS of ${names} in ${format.count(at.length, "period")}; lower is better.`, ...means((f) => f.crps, (v) => format.number(v))]),
      x: axis,
      y: { name: "CRPS", include: [0] },
      layers: lines((f) => f.crps),
    },
    {
      id: "through-time-calibration",
      title: "Calibration error along time",
      good: "Good: the lines stay near the floor, which is what a calibrated forecast of as many rows shows.",
      alt: sentences([`Calibration error of ${names} in ${format.count(at.length, "period")}.`, ...means((f) => f.calibration_error, (v) => format.percent(v))]),
      x: axis,
      y: { name: "calibration error", include: [0], ...share },
      layers: [
        { kind: "line", name: "floor: if calibrated", colour: "ideal", dash: true, width: 1.4, at, value: own[0]?.figures.calibration_floor ?? [] },
        ...lines((f) => f.calibration_error),
      ],
    },
    {
      id: "through-time-coverage",
      title: `Coverage of the ${level} interval along time`,
      good: `Good: the lines stay close to the dashed line at ${level}.`,
      alt: sentences([`Share of observations inside the ${level} interval of ${names}, in ${format.count(at.length, "period")}.`, ...means((f) => f.coverage, (v) => format.percent(v))]),
      x: axis,
      y: { name: `observations inside the ${level} interval`, ...coverageAxis(data.level, own.flatMap(({ figures }) => figures.coverage)) },
      layers: [levelOver(`claimed: ${level}`, data.level, at), ...lines((f) => f.coverage)],
    },
  ];
}

export function evidence(report: Report): Chart | null {
  const data = report.data.monitor;
  if (!data?.times.length) return null;
  const { axis, places, text } = clockOf(report, data.time_unit);
  const at = places(data.times);
  const strongest = data.evidence.reduce<number>((best, v, i) => ((v ?? 0) > (data.evidence[best] ?? 0) ? i : best), 0);
  const alarm = data.alarm_time == null ? -1 : data.times.indexOf(data.alarm_time);
  return {
    id: "evidence",
    title: "Evidence of a change through time",
    good: `Good: the line stays below the threshold of ${format.number(data.threshold)}. Evidence is what a fair bet on a change would have made of 1; a line that climbs steadily says that the forecasts no longer err as they did.`,
    alt: sentences([
      `Evidence after each of ${format.count(data.steps, "time")}, on a logarithmic scale. It is strongest at ${text(data.times[strongest]!)}, ${format.number(data.evidence[strongest])}; an alarm needs ${format.number(data.threshold)}.`,
      data.alarm_time == null ? "There is no alarm." : `The alarm is at ${text(data.alarm_time)}.`,
    ]),
    x: axis,
    y: { name: "evidence (logarithmic)", scale: "log", include: [data.threshold, 1], format: (v) => format.number(v, 3) },
    layers: [
      levelOver(`alarm: ${format.number(data.threshold)}`, data.threshold, at),
      { kind: "line", name: "evidence", colour: "forecast-0", width: 2, at, value: data.evidence },
      ...(alarm < 0
        ? []
        : [{ kind: "points", name: `alarm at ${text(data.alarm_time!)}`, colour: "forecast-1", symbol: "diamond", size: 12, at: [at[alarm]!], value: [data.evidence[alarm]!], quiet: true } as Layer]),
    ],
  };
}

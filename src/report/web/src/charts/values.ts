import type { Chart, Layer } from "../chart";
import type { Figures, Report } from "../data";
import * as format from "../format";
import { inOrder } from "../order";
import { colourOf, coverageAxis, listed, sentences, share, shortName, symbolOf } from "./common";

const most = 40;

const ratio = (value: Figures): number =>
  (value.calibration_error_percent ?? 0) / Math.max(value.calibration_floor_percent ?? 0, 1e-9);

/** The values that are drawn: all, or of very many those whose calibration error exceeds its floor most, in any forecast. Numbers
 *  and times are in their order, others the worst first. */
function chosen(report: Report, place: number): { names: string[]; note?: string } {
  const worst = new Map<string, number>();
  for (const { scores } of report.entries)
    for (const value of scores.by[place]?.values ?? []) {
      const name = value.name ?? "";
      worst.set(name, Math.max(worst.get(name) ?? 0, ratio(value)));
    }
  const names = [...worst.keys()];
  const kept = [...names].sort((a, b) => worst.get(b)! - worst.get(a)!).slice(0, most);
  const note = `Of ${format.integer(names.length)} values the ${most} are drawn whose calibration error is the largest multiple of its floor.`;
  return {
    names: inOrder(kept, kept.map((name) => worst.get(name)!)).map((i) => kept[i]!),
    ...(names.length > most ? { note } : {}),
  };
}

/** Quantile forecasts have no figures of values, and may come first. */
export const valueColumns = (report: Report): string[] =>
  report.entries.find(({ scores }) => scores.by.length)?.scores.by.map(({ column }) => column) ?? [];

export const byValues = (report: Report): Chart[] =>
  valueColumns(report).flatMap((column, place) => chartsOf(report, column, place));

/** Charts of the column at this place among those of --by. */
function chartsOf(report: Report, column: string, place: number): Chart[] {
  const { names, note } = chosen(report, place);
  if (!names.length) return [];
  const id = place === 0 ? "by" : `by-${place + 1}`;
  const position = new Map(names.map((name, i) => [name, i]));
  const drawn = report.entries.map((entry) => {
    const at = (value: Figures) => position.get(value.name ?? "") ?? -1;
    const list = (entry.scores.by[place]?.values ?? []).filter((value) => at(value) >= 0).sort((a, b) => at(a) - at(b));
    return { entry, list, at: list.map(at) };
  });
  const first = drawn.find(({ list }) => list.length)!;
  const common = {
    along: "y" as const,
    y: { name: column, categories: names },
    height: 90 + 22 * names.length,
    note,
  };
  const name = (entry: (typeof drawn)[number]["entry"], what: string) => (report.several ? shortName(entry) : what);
  const rows = (list: Figures[]) => (i: number): [string, string][] => [["rows", format.integer(list[i]!.rows)]];
  const part = (value: number | null) => (value == null ? null : value / 100);
  const beyond = drawn.map(({ entry, list }) => {
    const over = list.filter((value) => ratio(value) > 2).map((value) => value.name ?? "");
    return `${entry.name}: ${over.length} of ${format.count(list.length, "value")} show more than twice their floor${over.length ? ` (${listed(over.slice(0, 5))}${over.length > 5 ? " and others" : ""})` : ""}.`;
  });
  const calibration: Chart = {
    ...common,
    id: `${id}-calibration`,
    title: `Calibration error per ${column}`,
    good: "Good: each dot lies near its tick, the floor, which is what a calibrated forecast of as many rows shows.",
    alt: sentences([`Calibration error and its floor for each ${column}.`, ...beyond]),
    x: { name: "calibration error", include: [0], ...share },
    layers: [
      {
        kind: "points", name: "floor: if calibrated", colour: "ideal", symbol: "tick",
        at: first.at, value: first.list.map((value) => part(value.calibration_floor_percent)),
      },
      ...drawn.map(({ entry, list, at }): Layer => ({
        kind: "points", name: name(entry, "calibration error"), colour: colourOf(entry), symbol: symbolOf(entry), size: 9,
        at, value: list.map((value) => part(value.calibration_error_percent)), details: rows(list),
      })),
    ],
  };
  const levels = first.list[0]!.coverage.map((c) => c.level);
  if (!levels.length) return [calibration];
  const wanted = levels.reduce((best, v) => (Math.abs(v - 0.9) < Math.abs(best - 0.9) ? v : best));
  const observed = (value: Figures) => value.coverage.find((c) => c.level === wanted)?.observed ?? null;
  const text = format.percent(wanted, wanted * 100 === Math.round(wanted * 100) ? 0 : 1);
  const coverage: Chart = {
    ...common,
    id: `${id}-coverage`,
    title: `Coverage of the ${text} interval per ${column}`,
    good: `Good: the dots scatter closely around the dashed line at ${text}.`,
    alt: sentences([
      `Share of observations inside the ${text} interval for each ${column}.`,
      ...drawn.map(({ entry, list }) => {
        const shares = list.map(observed).filter((v): v is number => v != null);
        return shares.length ? `${entry.name}: from ${format.percent(Math.min(...shares))} to ${format.percent(Math.max(...shares))}.` : "";
      }),
    ]),
    x: { name: `observations inside the ${text} interval`, ...coverageAxis(wanted, drawn.flatMap(({ list }) => list.map(observed))) },
    layers: [
      { kind: "reference", name: `claimed: ${text}`, colour: "ideal", through: [[0, wanted], [1, wanted]] },
      ...drawn.map(({ entry, list, at }): Layer => ({
        kind: "points", name: name(entry, "observed"), colour: colourOf(entry), symbol: symbolOf(entry), size: 9,
        at, value: list.map(observed), details: rows(list),
      })),
    ],
  };
  return [calibration, coverage];
}

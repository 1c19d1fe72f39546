import type { Chart, Layer } from "../chart";
import type { GroupScores, Report } from "../data";
import * as format from "../format";
import { colourOf, listed, sentences, share, shortName, symbolOf } from "./common";

const most = 40;

const ratio = (group: GroupScores): number =>
  (group.calibration_error_percent ?? 0) / Math.max(group.calibration_floor_percent ?? 0, 1e-9);

/** The groups that are drawn: all, or of very many those whose calibration error exceeds its floor most, in any forecast. */
function chosen(report: Report): { names: string[]; note?: string } {
  const worst = new Map<string, number>();
  for (const { scores } of report.entries)
    for (const group of scores.groups) {
      const name = group.name ?? "";
      worst.set(name, Math.max(worst.get(name) ?? 0, ratio(group)));
    }
  const names = [...worst.keys()];
  if (names.length <= most) return { names };
  return {
    names: names.sort((a, b) => worst.get(b)! - worst.get(a)!).slice(0, most),
    note: `Of ${format.integer(names.length)} groups the ${most} are drawn whose calibration error is the largest multiple of its floor, the worst first.`,
  };
}

export function groups(report: Report): Chart[] {
  const { names, note } = chosen(report);
  if (!names.length) return [];
  const column = report.data.columns.group ?? "group";
  const position = new Map(names.map((name, i) => [name, i]));
  const drawn = report.entries.map((entry) => {
    const place = (group: GroupScores) => position.get(group.name ?? "") ?? -1;
    const list = entry.scores.groups.filter((group) => place(group) >= 0).sort((a, b) => place(a) - place(b));
    return { entry, list, at: list.map(place) };
  });
  const first = drawn.find(({ list }) => list.length)!;
  const common = {
    along: "y" as const,
    y: { name: column, categories: names },
    height: 90 + 22 * names.length,
    note,
  };
  const name = (entry: (typeof drawn)[number]["entry"], what: string) => (report.several ? shortName(entry) : what);
  const rows = (list: GroupScores[]) => (i: number): [string, string][] => [["rows", format.integer(list[i]!.rows)]];
  const part = (value: number | null) => (value == null ? null : value / 100);
  const beyond = drawn.map(({ entry, list }) => {
    const over = list.filter((group) => ratio(group) > 2).map((group) => group.name ?? "");
    return `${entry.name}: ${over.length} of ${format.count(list.length, "group")} show more than twice their floor${over.length ? ` (${listed(over.slice(0, 5))}${over.length > 5 ? " and others" : ""})` : ""}.`;
  });
  const calibration: Chart = {
    ...common,
    id: "groups-calibration",
    title: `Calibration error per ${column}`,
    good: "Good: each dot lies near its tick, the floor, which is what a calibrated forecast of as many rows shows.",
    alt: sentences([`Calibration error and its floor for each ${column}.`, ...beyond]),
    x: { name: "calibration error", include: [0], ...share },
    layers: [
      {
        kind: "points", name: "floor: if calibrated", colour: "ideal", symbol: "tick",
        at: first.at, value: first.list.map((group) => part(group.calibration_floor_percent)),
      },
      ...drawn.map(({ entry, list, at }): Layer => ({
        kind: "points", name: name(entry, "calibration error"), colour: colourOf(entry), symbol: symbolOf(entry), size: 9,
        at, value: list.map((group) => part(group.calibration_error_percent)), details: rows(list),
      })),
    ],
  };
  const levels = first.list[0]!.coverage.map((c) => c.level);
  if (!levels.length) return [calibration];
  const wanted = levels.reduce((best, v) => (Math.abs(v - 0.9) < Math.abs(best - 0.9) ? v : best));
  const observed = (group: GroupScores) => group.coverage.find((c) => c.level === wanted)?.observed ?? null;
  const text = format.percent(wanted, wanted * 100 === Math.round(wanted * 100) ? 0 : 1);
  const coverage: Chart = {
    ...common,
    id: "groups-coverage",
    title: `Coverage of the ${text} interval per ${column}`,
    good: `Good: the dots scatter closely around the dashed line at ${text}.`,
    alt: sentences([
      `Share of observations inside the ${text} interval for each ${column}.`,
      ...drawn.map(({ entry, list }) => {
        const shares = list.map(observed).filter((v): v is number => v != null);
        return shares.length ? `${entry.name}: from ${format.percent(Math.min(...shares))} to ${format.percent(Math.max(...shares))}.` : "";
      }),
    ]),
    x: { name: `observations inside the ${text} interval`, include: [wanted], max: 1, ...share },
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

// The whole distribution of a row that the reader picks.
import type { Chart, Layer } from "../chart";
import type { Density, Entry, Report } from "../data";
import * as format from "../format";
import { colourOf, dashOf, named, sentences } from "./common";

const rowName = (entry: Entry, { row, time, mean, sigma }: Density): string => {
  const when = time === undefined ? "" : entry.forecast.time_unit === "seconds" ? `, ${format.isoTime(time)}` : `, ${format.number(time, 6)}`;
  return `Row ${format.integer(row)}${when}: mean ${format.number(mean, 3)}, sigma ${format.number(sigma, 3)}`;
};

const tellsOf = (entry: Entry, { median, below, observation }: Density): string =>
  `${entry.name}: median ${format.number(median)}; the observation is ${format.number(observation)}, and ${format.percent(below)} of the probability lies below it.`;

export function densities(report: Report): Chart | null {
  const entries = report.entries.filter((entry) => entry.forecast.densities?.length);
  const first = entries[0];
  if (!first) return null;
  const options = first.forecast.densities!.map((shown, k) => {
    const own = entries.flatMap((entry) => (entry.forecast.densities![k] ? [{ entry, row: entry.forecast.densities![k]! }] : []));
    const most = Math.max(...own.flatMap(({ row }) => row.density.map((v) => v ?? 0)));
    return {
      name: rowName(first, shown),
      alt: sentences(["Density of the forecast, and the observation.", ...own.map(({ entry, row }) => tellsOf(entry, row))]),
      layers: [
        ...own.flatMap(({ entry, row }): Layer[] => {
          const width = (row.to - row.from) / row.density.length;
          const at = row.density.map((_, i) => row.from + (i + 0.5) * width);
          const name = named(report, "density", entry);
          return [
            { kind: "band", name, colour: colourOf(entry), opacity: 0.18, quiet: true, unlisted: true, at, low: at.map(() => 0), high: row.density },
            { kind: "line", name, colour: colourOf(entry), dash: dashOf(entry), at, value: row.density },
          ];
        }),
        {
          kind: "interval", name: "observation", colour: "observed", width: 2, caps: false, at: [shown.observation ?? NaN], low: [0], high: [most],
          details: () => own.map(({ entry, row }) => [named(report, "probability below", entry), format.percent(row.below)]),
        } as Layer,
      ],
    };
  });
  const { prediction, observation = "observation" } = report.data.columns;
  return {
    id: "density",
    title: "The distribution of one row",
    good: "Good: over many rows, observations fall where the density is high about as often as it says; a single one proves nothing.",
    alt: options[0]!.alt,
    x: { name: prediction || report.data.columns.observation ? observation : (report.data.columns.error ?? "error") },
    y: { name: "probability density", include: [0] },
    layers: options[0]!.layers,
    choices: { label: "Row, from the smallest sigma to the largest", options },
  };
}

import type { Chart, Layer } from "../chart";
import type { Entry, Report, Start } from "../data";
import * as format from "../format";
import { colourOf, sentences, shortName } from "./common";

export const startName = (start: Start): string => `fold ${start.fold + 1}, ${start.form ? `${start.form}, ` : ""}start ${start.start + 1}`;

function chart(report: Report, entry: Entry, starts: Start[], step: number): Chart {
  const colour = colourOf(entry);
  const kept = starts.filter((start) => start.kept);
  const dropped = starts.filter((start) => !start.kept);
  const costs = kept.flatMap((start) => (start.validation_cost == null ? [] : [start.validation_cost]));
  const curve = (start: Start, what: "validation" | "training"): Layer => {
    const value = what === "validation" ? start.validation_curve : start.training_curve;
    const fate: [string, string][] = [
      ["stopped", `${start.reason}, after ${format.count(start.iterations, "iteration")}`],
      ["validation cost", format.number(start.validation_cost)],
      ...(start.kept ? [] : [["dropped", start.dropped_because ?? "not kept"] as [string, string]]),
    ];
    return {
      kind: "line",
      name: start.kept ? what : "dropped",
      label: `${startName(start)}, ${what}`,
      colour: start.kept ? colour : "ideal",
      width: what === "validation" ? 1.8 : 0.8,
      opacity: what === "validation" ? 0.9 : 0.6,
      dash: !start.kept,
      at: value.map((_, i) => i * step),
      value,
      details: () => fate,
    };
  };
  return {
    id: report.several ? `fit-${entry.index + 1}` : "fit",
    title: report.several ? `The fit of ${shortName(entry)}` : "The fit: cost at every iteration",
    good: "Good: validation falls with training and levels off; all starts of a fold end at nearly the same cost.",
    alt: sentences([
      `Cost at every iteration for ${format.count(starts.length, "fold and start").replace("fold and starts", "folds and starts")}; ${format.count(dropped.length, "of them").replace(/s$/, "")} dropped.`,
      costs.length > 0 && `Validation costs of those kept: ${format.number(Math.min(...costs))} to ${format.number(Math.max(...costs))}.`,
    ]),
    read: "nearest",
    x: { name: "iteration", format: format.integer },
    y: { name: "cost" },
    layers: [
      ...starts.map((start) => curve(start, "training")),
      ...starts.map((start) => curve(start, "validation")),
    ],
  };
}

export const fits = (report: Report): Chart[] =>
  report.entries.flatMap((entry) => {
    const starts = entry.forecast.fit?.starts.filter((start) => start.validation_curve.length > 1 || start.training_curve.length > 1) ?? [];
    return starts.length ? [chart(report, entry, starts, entry.forecast.fit!.iteration_step)] : [];
  });

// All charts of a report, in the order of the page. A chart whose data are not there is not drawn.
import type { Chart } from "../chart";
import type { Report } from "../data";
import { withoutHidden } from "../chart";
import { balances } from "./balance";
import { listed, sentences } from "./common";
import { densities } from "./density";
import { everywhere, worstPlaces } from "./everywhere";
import { fits } from "./fit";
import { importance } from "./importance";
import { pit } from "./pit";
import { alongPrediction, alongTime } from "./predictions";
import { deviation, reliability } from "./reliability";
import { alongInputs, spreadSkill } from "./sigma";
import { evidence, throughTime } from "./through_time";
import { quantiles, ranks } from "./ranks";
import { thresholds } from "./thresholds";
import { byValues, valueColumns } from "./values";

export interface Section {
  id: string;
  title: string;
  lead: string;
  charts: Chart[];
  paired?: boolean; // two charts in a row where there is room
}

export function sectionsOf(report: Report): Section[] {
  const some = (charts: (Chart | null)[]): Chart[] => charts.filter((chart) => chart !== null);
  const columns = valueColumns(report);
  return [
    { id: "drift", title: "Evidence", lead: "Do the forecasts still err as they did when the model was verified?", charts: some([evidence(report)]) },
    {
      id: "through-time",
      title: "Through time",
      lead: "What learning from each observation has changed.",
      charts: throughTime(report),
      paired: true,
    },
    {
      id: "calibration",
      title: "Calibration",
      lead: "Of all events that were given a probability of 30%, did 30% happen?",
      charts: some([reliability(report), deviation(report)]),
      paired: true,
    },
    {
      id: "everywhere",
      title: "Everywhere",
      lead: sentences([
        "Calibrated on average is not calibrated in every place. A bias above 0 says that observations lie above the forecast, a spread above 1 that it is too narrow.",
        worstPlaces(report),
      ]),
      charts: everywhere(report),
      paired: true,
    },
    { id: "histogram", title: "Shape", lead: "Is the distribution around the prediction the right one?", charts: some([pit(report)]) },
    {
      id: "ranks",
      title: "Members and quantiles",
      lead: "How often do observations lie below each member of an ensemble, or below each quantile?",
      charts: [...ranks(report), ...some([quantiles(report)])],
      paired: true,
    },
    {
      id: "thresholds",
      title: "Thresholds",
      lead: "When the forecast says 30% for more than a threshold, does that happen in 30% of the cases?",
      charts: thresholds(report),
      paired: true,
    },
    {
      id: "observations",
      title: "Predictions",
      lead: "What was forecast, and what then happened.",
      charts: some([alongPrediction(report), alongTime(report)]),
    },
    { id: "density", title: "One row", lead: "What the forecast says of a single row, and what was observed.", charts: some([densities(report)]) },
    { id: "importance", title: "What drives the forecast", lead: "Which inputs move its location, its scale and its shape?", charts: importance(report) },
    {
      id: "sigma",
      title: "Errors along the inputs",
      lead: "Does the forecast follow the errors where they change with an input?",
      charts: alongInputs(report),
      paired: true,
    },
    {
      id: "by",
      title: `By ${listed(columns)}`,
      lead: `Does it hold for every ${columns.join(", and for every ")}, or only on average?`,
      charts: report.data.through_time ? [] : byValues(report), // those are periods, drawn along time
      paired: true,
    },
    { id: "spread", title: "Spread and skill", lead: "Does a wider forecast mean larger errors?", charts: some([spreadSkill(report)]) },
    { id: "fit", title: "The fit", lead: "How it was trained, fold by fold.", charts: fits(report) },
    { id: "balance", title: "Balance", lead: "What would other balances between accuracy and reliability give?", charts: balances(report) },
  ]
    .filter((section) => section.charts.length > 0)
    .map((section) => ({ ...section, charts: section.charts.map(withoutHidden) }));
}

// All charts of a report, in the order of the page. A chart whose data are not there is not drawn.
import type { Chart } from "../chart";
import type { Report } from "../data";
import { listed } from "./common";
import { fits } from "./fit";
import { pit } from "./pit";
import { alongPrediction, alongTime } from "./predictions";
import { deviation, reliability } from "./reliability";
import { alongInputs, spreadSkill } from "./sigma";
import { byValues } from "./values";

export interface Section {
  id: string;
  title: string;
  lead: string;
  charts: Chart[];
  paired?: boolean; // two charts in a row where there is room
}

export function sectionsOf(report: Report): Section[] {
  const some = (charts: (Chart | null)[]): Chart[] => charts.filter((chart) => chart !== null);
  const columns = report.entries[0]?.scores.by.map(({ column }) => column) ?? [];
  return [
    {
      id: "calibration",
      title: "Calibration",
      lead: "Of all events that were given a probability of 30%, did 30% happen?",
      charts: some([reliability(report), deviation(report)]),
      paired: true,
    },
    { id: "histogram", title: "Shape", lead: "Is the distribution around the prediction the right one?", charts: some([pit(report)]) },
    {
      id: "observations",
      title: "Predictions",
      lead: "What was forecast, and what then happened.",
      charts: some([alongPrediction(report), alongTime(report)]),
    },
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
      charts: byValues(report),
      paired: true,
    },
    { id: "spread", title: "Spread and skill", lead: "Does a wider forecast mean larger errors?", charts: some([spreadSkill(report)]) },
    { id: "fit", title: "The fit", lead: "How it was trained, fold by fold.", charts: fits(report) },
  ].filter((section) => section.charts.length > 0);
}

// Which inputs drive the forecast: what changes in it when rows take each other's values of one input.
import type { Chart, Symbol } from "../chart";
import type { Entry, Importance, Report } from "../data";
import * as format from "../format";
import { colourOf, listed, sentences, shortName } from "./common";

const most = 40;

type Part = "location" | "scale" | "shape";

const parts: { part: Part; name: string; symbol: Symbol }[] = [
  { part: "location", name: "location, in sigmas", symbol: "circle" },
  { part: "scale", name: "scale, as its logarithm", symbol: "diamond" },
  { part: "shape", name: "shape, in its parameters", symbol: "triangle" },
];

const largest = (own: Importance): number => Math.max(...parts.map(({ part }) => own[part] ?? 0));

function chart(report: Report, entry: Entry, all: Importance[]): Chart {
  const shown = [...all].sort((a, b) => largest(b) - largest(a)).slice(0, most);
  const changed = ({ part }: { part: Part }) => all.some((own) => (own[part] ?? 0) > 0);
  const still = parts.filter((one) => !changed(one)).map(({ part }) => part);
  const at = shown.map((_, i) => i);
  const driver = ({ part }: { part: Part }): string => {
    const [first, second] = [...all].sort((a, b) => (b[part] ?? 0) - (a[part] ?? 0));
    const told = (own: Importance) => `${own.input} (${format.number(own[part], 3)})`;
    return `The ${part} is driven most by ${told(first!)}${second && (second[part] ?? 0) > 0 ? `, then by ${told(second)}` : ""}.`;
  };
  return {
    id: report.several ? `importance-${entry.index + 1}` : "importance",
    title: report.several ? `What drives ${shortName(entry)}` : "Change of the forecast where an input is permuted",
    good: "Good: the inputs on top are those that you expect to matter. One that lies at 0 is not used.",
    alt: sentences([
      `Mean change of location, scale and shape of the forecast when rows take each other's values of an input, for ${format.count(all.length, "input")}.`,
      ...parts.filter(changed).map(driver),
      still.length > 0 && `No input changes the ${listed(still)}.`,
    ]),
    note: sentences([
      all.length > most && `Of ${format.integer(all.length)} inputs the ${most} are drawn that change the most.`,
      still.length > 0 && `No input changes the ${listed(still)}.`,
      "The chart says what the model does, not what is true; inputs that go together share what they drive.",
    ]),
    along: "y",
    y: { name: "input", categories: shown.map((own) => own.input) },
    x: { name: "mean change", include: [0], format: (v) => format.number(v, 3) },
    height: 90 + 26 * shown.length,
    layers: parts.filter(changed).map(({ part, name, symbol }) => ({
      kind: "points", name, colour: colourOf(entry), symbol, size: 9, at, value: shown.map((own) => own[part]),
    })),
  };
}

export const importance = (report: Report): Chart[] =>
  report.entries.flatMap((entry) => {
    const all = entry.forecast.fit?.importance ?? [];
    return all.some((own) => largest(own) > 0) ? [chart(report, entry, all)] : [];
  });

// Calibration in each place: mean and standard deviation of the normal scores, and coverage, along every input and the
// prediction, in groups, through the year and the day.
import type { Axis, Chart, Layer } from "../chart";
import type { ConditionalColumn, Entry, Report, Value } from "../data";
import * as format from "../format";
import { inOrder } from "../order";
import { colourOf, coverageAxis, dashOf, ofForecast, sentences, share, shortName, symbolOf } from "./common";

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

interface Drawn {
  entry: Entry;
  column: ConditionalColumn;
  order: number[]; // which of its places, in the order in which they are drawn
  at: number[];
}

type Figure = "mean_z" | "sd_z" | "coverage";
type Marked = Figure | "calibration_error";

const words: Record<Figure, string> = { mean_z: "bias", sd_z: "spread", coverage: "coverage" };

const bandOf = (column: ConditionalColumn, figure: Figure, pointwise: boolean) => {
  const key = pointwise ? (`${figure}_pointwise` as const) : figure;
  return { low: column[`${key}_low`], high: column[`${key}_high`] };
};

const picked = (values: Value[], order: number[]): Value[] => order.map((i) => values[i] ?? null);

/** Where chance alone would leave it. */
const isBeyond = (column: ConditionalColumn, figure: Marked, i: number): boolean => {
  if (figure === "calibration_error") return (column.calibration_off[i] ?? 0) > 1;
  const [value, { low, high }] = [column[figure][i], bandOf(column, figure, false)];
  return value != null && low[i] != null && high[i] != null && (value < low[i]! || value > high[i]!);
};

/** How the columns of one name are laid out: along numbers, months or hours, or one below the other. */
interface Layout {
  axis: Axis;
  along: "x" | "y";
  words: string; // "along wind", "in each station"
  height?: number;
  note?: string;
  drawn: Drawn[];
}

/** Of the times of the rows, or of an input that is a season or an hour. */
const isTime = ({ name, role }: ConditionalColumn, own: string, kind: string) => (role === "time" ? name === own : role === "input" && name.endsWith(kind));

function layoutOf(name: string, own: { entry: Entry; column: ConditionalColumn }[]): Layout {
  const first = own[0]!.column;
  const all = (column: ConditionalColumn) => column.label.map((_, i) => i);
  if (first.x)
    return {
      axis: { name, format: (v) => format.number(v) },
      along: "x",
      words: `along ${name}`,
      drawn: own.map(({ entry, column }) => ({ entry, column, order: all(column), at: column.x ?? [] })),
    };
  if (isTime(first, "month", ":season"))
    return {
      axis: { name: "month", min: 1, max: 12, step: 1, format: (v) => months[Math.round(v) - 1] ?? "", tick: (v) => (months[v - 1] ?? "").slice(0, 3) },
      along: "x",
      words: first.role === "time" ? "through the year" : `through the year of ${name}`,
      drawn: own.map(({ entry, column }) => ({ entry, column, order: all(column), at: column.label.map((label) => months.indexOf(label) + 1) })),
    };
  if (isTime(first, "hour", ":hour"))
    return {
      axis: { name: "hour (UTC)", min: 0, max: 23, step: 3, format: (v) => `${String(v).padStart(2, "0")}:00` },
      along: "x",
      words: first.role === "time" ? "through the day" : `through the day of ${name}`,
      drawn: own.map(({ entry, column }) => ({ entry, column, order: all(column), at: column.label.map(Number) })),
    };
  // Names, of all forecasts together, and how far off each is in the worst of them.
  const trouble = new Map<string, number>();
  for (const { column } of own) column.label.forEach((label, i) => trouble.set(label, Math.max(trouble.get(label) ?? 0, column.off[i] ?? 0)));
  const names = [...trouble.keys()];
  const categories = inOrder(names, [...trouble.values()]).map((i) => names[i]!);
  const position = new Map(categories.map((label, i) => [label, i]));
  const places = Math.max(...own.map(({ column }) => column.all_places));
  return {
    axis: { name, categories },
    along: "y",
    words: `per ${name}`,
    height: 90 + 22 * categories.length,
    note: places > categories.length ? `Of ${format.integer(places)} values the ${categories.length} that are furthest off are drawn.` : undefined,
    drawn: own.map(({ entry, column }) => {
      const order = all(column).sort((a, b) => position.get(column.label[a]!)! - position.get(column.label[b]!)!);
      return { entry, column, order, at: order.map((i) => position.get(column.label[i]!)!) };
    }),
  };
}

const placeName = (column: ConditionalColumn, i: number): string =>
  column.x ? format.range(format.number(column.low![i]), format.number(column.high![i])) : column.label[i]!;

const details = ({ column, order }: Drawn) => (k: number): [string, string][] => {
  const i = order[k]!;
  return [
    ...(column.x ? [["bin", placeName(column, i)] as [string, string]] : []),
    ["rows", format.integer(column.rows[i])],
    ["calibration error", `${format.percent(column.calibration_error[i])} (floor ${format.percent(column.calibration_floor[i])})`],
  ];
};

/** What chance may do, of one forecast in grey, of several each in its colour. */
function bands(report: Report, { along, drawn }: Layout, figure: Figure, rate: number): Layer[] {
  return drawn.flatMap(({ entry, column, order, at }): Layer[] =>
    [false, true].flatMap((pointwise): Layer[] => {
      if (report.several && pointwise) return [];
      const { low, high } = bandOf(column, figure, pointwise);
      const common = {
        ...(report.several
          ? { name: shortName(entry), label: `${shortName(entry)}: ${words[figure]} by chance`, unlisted: true }
          : {
              name: pointwise ? "chance: at each place, 90%" : `chance: anywhere at all, ${format.percent(1 - rate, 0)}`,
              label: `${words[figure]} by chance, ${format.percent(1 - rate, 0)}`,
            }),
        colour: report.several ? colourOf(entry) : ("band" as const),
        quiet: pointwise,
        at,
        low: picked(low, order),
        high: picked(high, order),
      };
      return along === "x"
        ? [{ ...common, kind: "band", opacity: report.several ? 0.1 : pointwise ? 0.3 : 0.2 }]
        : [{ ...common, kind: "interval", width: 9, caps: false, opacity: report.several ? 0.2 : pointwise ? 0.35 : 0.24 }];
    }),
  );
}

/** The figure in each place, and a ring where chance does not explain it. */
function values(report: Report, { along, drawn }: Layout, figure: Marked, what: string): Layer[] {
  return drawn.flatMap((one): Layer[] => {
    const { entry, column, order, at } = one;
    const name = report.several ? ofForecast(report, what, entry) : { name: what, label: what };
    const value = picked(column[figure], order);
    const common = { ...name, colour: colourOf(entry), at, value, details: details(one) };
    const beyond = order.map((i) => isBeyond(column, figure, i));
    const symbol = figure === "sd_z" && !report.several ? "diamond" : symbolOf(entry);
    const ring: Layer[] = beyond.some(Boolean)
      ? [{ kind: "points", name: "further off than chance", colour: "observed", ring: true, size: 14, quiet: true, at: at.filter((_, k) => beyond[k]), value: value.filter((_, k) => beyond[k]) }]
      : [];
    return [
      ...(along === "x" ? [{ ...common, kind: "line", width: 1.4, dash: dashOf(entry), quiet: true, unlisted: true } as Layer] : []),
      ...ring,
      { ...common, kind: "points", symbol, size: 8 },
    ];
  });
}

/** What a calibrated forecast of as many rows shows. */
const floors = ({ along, drawn }: Layout): Layer[] =>
  drawn.slice(0, 1).map(({ column, order, at }): Layer => {
    const common = { name: "floor: if calibrated", colour: "ideal" as const, at, value: picked(column.calibration_floor, order) };
    return along === "x" ? { ...common, kind: "line", dash: true, width: 1.4 } : { ...common, kind: "points", symbol: "tick" };
  });

/** Whether the shape of the errors is what is furthest off in a place. */
const isOfShape = ({ column }: Drawn): boolean => column.label.some((_, i) => isBeyond(column, "calibration_error", i) && column.calibration_off[i]! >= column.off[i]!);

const right = (values: number[]): Layer[] =>
  values.map((value) => ({
    kind: "reference",
    name: values.length > 1 ? "right: 0 and 1" : `claimed: ${format.percent(value, 0)}`,
    colour: "ideal",
    through: [
      [0, value],
      [1, value],
    ],
  }));

const extremes = (values: Value[], text: (v: number) => string): string => {
  const known = values.filter((v): v is number => v != null);
  return known.length ? format.range(text(Math.min(...known)), text(Math.max(...known))) : format.missing;
};

const number = (v: number | null | undefined): string => format.number(v, 2);

const furthest = ({ column }: Drawn): number => column.off.reduce<number>((best, v, i) => ((v ?? 0) > (column.off[best] ?? 0) ? i : best), 0);

const spreadAlt = (one: Drawn): string => {
  const { entry, column } = one;
  const i = furthest(one);
  const beyond = column.label.filter((_, k) => isBeyond(column, "mean_z", k) || isBeyond(column, "sd_z", k)).length;
  return (
    `${entry.name}: means from ${extremes(column.mean_z, number)}, standard deviations from ${extremes(column.sd_z, number)}; ` +
    `${beyond} of ${format.count(column.label.length, "place")} ${beyond === 1 ? "is" : "are"} further off than chance. ` +
    `Furthest off: ${placeName(column, i)}, mean ${number(column.mean_z[i])}, standard deviation ${number(column.sd_z[i])}.`
  );
};

function chartsOf(report: Report, name: string, index: number): Chart[] {
  const own = report.entries.flatMap((entry) => {
    const column = entry.forecast.conditional?.columns.find((one) => one.name === name);
    return column?.label.length ? [{ entry, column }] : [];
  });
  if (!own.length) return [];
  const layout = layoutOf(name, own);
  const rate = own[0]!.entry.forecast.conditional!.error_rate;
  const { axis, along, words, height, note } = layout;
  const percents = (column: ConditionalColumn) => extremes(column.calibration_error, (v) => format.percent(v));
  const across = (other: Axis) => (along === "x" ? { x: axis, y: other } : { x: other, y: axis });
  const common = { along, height, note };
  return [
    {
      ...common,
      id: `everywhere-${index + 1}`,
      title: `Bias and spread ${words}`,
      good: `Good: bias, the marks ${along === "x" ? "below" : "on the left"}, lies in the band around 0, and spread, those ${along === "x" ? "above" : "on the right"}, in the band around 1.`,
      alt: sentences([`Mean and standard deviation of the normal scores of the observations ${words}; right are 0 and 1.`, ...layout.drawn.map(spreadAlt)]),
      ...across({ name: "z: mean (right: 0) and sd (right: 1)", include: [0, 1], format: (v) => format.number(v, 3) }),
      layers: [
        ...bands(report, layout, "mean_z", rate),
        ...bands(report, layout, "sd_z", rate),
        ...right([0, 1]),
        ...values(report, layout, "mean_z", "bias: mean of z"),
        ...values(report, layout, "sd_z", "spread: sd of z"),
      ],
    },
    {
      ...common,
      id: `everywhere-${index + 1}-coverage`,
      title: `Coverage of the 90% interval ${words}`,
      good: "Good: the marks lie in the band, and the band around the dashed line at 90%.",
      alt: sentences([
        `Share of observations inside the 90% interval ${words}.`,
        ...layout.drawn.map(({ entry, column }) => `${entry.name}: from ${extremes(column.coverage, (v) => format.percent(v))}, of all rows ${format.percent(entry.forecast.conditional!.coverage)}.`),
      ]),
      ...across({ name: "observations inside the 90% interval", ...coverageAxis(0.9, layout.drawn.flatMap(({ column }) => [...column.coverage, ...column.coverage_low])) }),
      layers: [...bands(report, layout, "coverage", rate), ...right([0.9]), ...values(report, layout, "coverage", "observed")],
    },
    ...(layout.drawn.some(isOfShape)
      ? [
          {
            ...common,
            id: `everywhere-${index + 1}-calibration`,
            title: `Calibration error ${words}`,
            good: "Good: the marks lie near the floor, which is what a calibrated forecast of as many rows shows.",
            alt: sentences([`Calibration error ${words}.`, ...layout.drawn.map(({ entry, column }) => `${entry.name}: from ${percents(column)}.`)]),
            ...across({ name: "calibration error", include: [0], ...share }),
            layers: [...floors(layout), ...values(report, layout, "calibration_error", "calibration error")],
          },
        ]
      : []),
  ];
}

/** The columns, the one that is furthest off first. */
export function everywhere(report: Report): Chart[] {
  const trouble = new Map<string, number>();
  for (const { forecast } of report.entries)
    for (const column of forecast.conditional?.columns ?? [])
      trouble.set(column.name, Math.max(trouble.get(column.name) ?? 0, ...column.off.map((v) => v ?? 0)));
  return [...trouble.keys()].sort((a, b) => trouble.get(b)! - trouble.get(a)!).flatMap((name, i) => chartsOf(report, name, i));
}

/** The worst place of every forecast, in the words of the verdict. */
export const worstPlaces = (report: Report): string =>
  sentences(
    report.entries.flatMap((entry) => {
      const found = entry.forecast.conditional;
      if (!found?.tests) return [];
      const who = report.several ? `${shortName(entry)}: ` : "";
      const rate = format.percent(found.error_rate, 0);
      return [
        found.passes
          ? `${who}${report.several ? "the" : "The"} test finds no place that is off beyond chance and by enough to matter (it calls ${rate} of calibrated forecasts faulty).`
          : `${who}${report.several ? "worst" : "Worst"}: ${found.worst}.`,
      ];
    }),
  );

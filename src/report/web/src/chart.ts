// What a chart is: axes and layers, by the names of things and not by how they look. option.ts draws it; reading.ts reads numbers
// from it for tooltips, tables and screen readers.
import type { Role } from "./theme";
import * as format from "./format";

type Value = number | null;

export interface Axis {
  name: string;
  scale?: "linear" | "log" | "time"; // time: in milliseconds since 1970
  categories?: string[]; // then positions are 0, 1, ... and these their names
  min?: number;
  max?: number;
  include?: number[]; // values that the axis has to reach
  step?: number; // between ticks
  format?: (value: number) => string; // in tooltips and tables
  tick?: (value: number) => string; // on the axis
}

export type Symbol = "circle" | "diamond" | "triangle" | "rect" | "tick";

interface AnyLayer {
  name: string; // in the legend, where layers of one name are one entry
  label?: string; // in tooltips and tables, where it differs
  colour: Role;
  opacity?: number;
  quiet?: boolean; // neither read nor tabulated: a repetition or a decoration
  unlisted?: boolean; // not in the legend
  details?: (index: number) => [string, string][]; // more about a point, for tooltips
}

// `at` are places on the axis that the chart goes along, `value`, `low` and `high` on the other one.
export interface Line extends AnyLayer {
  kind: "line";
  at: number[];
  value: Value[];
  width?: number;
  dash?: boolean | "long"; // long: over another line, which is seen in the gaps
  symbol?: Symbol;
}
export interface Points extends AnyLayer {
  kind: "points";
  at: number[];
  value: Value[];
  symbol?: Symbol;
  size?: number;
  hollow?: boolean;
  ring?: boolean; // hollow, and what lies inside is seen
  labels?: { of: string; texts: string[] }; // beside the points, and first in tooltips and tables, which then have the details too
}
export interface Bars extends AnyLayer {
  kind: "bars";
  at: number[];
  from: number[]; // left and right edge of each bar
  to: number[];
  value: Value[];
}
export interface Band extends AnyLayer {
  kind: "band";
  at: number[];
  low: Value[];
  high: Value[];
}
/** A stroke from low to high at each place, with caps unless it is wide. */
export interface Interval extends AnyLayer {
  kind: "interval";
  at: number[];
  low: Value[];
  high: Value[];
  width?: number;
  caps?: boolean;
}
/** Cells around points of the plane; the larger the value, the stronger the colour. */
export interface Heat extends AnyLayer {
  kind: "heat";
  at: number[];
  across: number[]; // on the other axis
  value: Value[];
  size: [number, number]; // of a cell, along and across
}
/** A straight line through two points, over the whole chart. */
export interface Reference extends AnyLayer {
  kind: "reference";
  through: [[number, number], [number, number]];
}

export type Layer = Line | Points | Bars | Band | Interval | Heat | Reference;
export type ReadableLayer = Exclude<Layer, Reference>;

/** What a reader can pick: its name, and what the chart then shows. */
export interface Choices {
  label: string;
  options: { name: string; alt: string; layers: Layer[] }[];
}

export interface Chart {
  id: string; // also the name of its file
  title: string; // what it shows
  good: string; // what a good one looks like
  alt: string; // the same for those who do not see it, with its numbers
  note?: string;
  x: Axis;
  y: Axis;
  along?: "x" | "y"; // the axis of `at`; x unless given
  read?: "all" | "nearest"; // a tooltip tells about all layers at a place, or about the nearest point only
  layers: Layer[];
  choices?: Choices; // the same chart of other things; it begins with the first
  height?: number; // in pixels, where the usual one does not suit
  square?: boolean;
}

/** Whether two layers would be drawn one on the other. */
function coincide(a: Line | Points, b: Line | Points, [along, across]: [number, number]): boolean {
  const near = (v: Value | undefined, w: Value | undefined, within: number) =>
    v == null || w == null || Number.isNaN(v) || Number.isNaN(w) ? Object.is(v, w) : Math.abs(v - w) <= within;
  return a.at.length === b.at.length && a.at.every((at, i) => near(at, b.at[i], along) && near(a.value[i], b.value[i], across));
}

/** Less than this is not seen. */
function hairline(values: Value[]): number {
  const known = values.filter((v): v is number => v != null && Number.isFinite(v));
  const most = known.reduce((best, v) => Math.max(best, v), -Infinity);
  return 0.003 * (most - known.reduce((best, v) => Math.min(best, v), Infinity));
}

/** The chart with curves that lie under an equal one made visible: the later is dashed, or a ring around the points. */
export function withoutHidden(chart: Chart): Chart {
  const drawn = chart.layers.filter((layer): layer is Line | Points => layer.kind === "line" || layer.kind === "points");
  const within: [number, number] = [
    hairline([...drawn.flatMap((layer) => layer.at), ...(alongAxis(chart).include ?? [])]),
    hairline([...drawn.flatMap((layer) => layer.value), ...(acrossAxis(chart).include ?? [])]),
  ];
  const changed = chart.layers.map((layer, i): Layer => {
    if ((layer.kind !== "line" && layer.kind !== "points") || !layer.at.length) return layer;
    const isRing = (one: Line | Points) => one.kind === "points" && one.ring; // hides nothing
    const before = chart.layers.slice(0, i).filter((other): other is Line | Points => other.kind === layer.kind && other.colour !== layer.colour && !isRing(other));
    if (!before.some((other) => coincide(other, layer, within))) return layer;
    return layer.kind === "line" ? { ...layer, dash: "long" } : { ...layer, ring: true, size: (layer.size ?? 7) + 5 };
  });
  return changed.every((layer, i) => layer === chart.layers[i]) ? chart : { ...chart, layers: changed };
}

export const alongAxis = (chart: Chart): Axis => (chart.along === "y" ? chart.y : chart.x);
export const acrossAxis = (chart: Chart): Axis => (chart.along === "y" ? chart.x : chart.y);

/** A point of a layer in the order (x, y). */
export const place = (chart: Chart, at: number, value: number): [number, number] =>
  chart.along === "y" ? [value, at] : [at, value];

export const isReadable = (layer: Layer): layer is ReadableLayer => layer.kind !== "reference" && !layer.quiet;

export const formatOn = (axis: Axis, value: number): string =>
  axis.categories?.[value] ??
  axis.format?.(value) ??
  (axis.scale === "time" ? format.isoTime(value / 1000) : format.number(value));

// Numbers read from a chart: what a tooltip says about a place, and the table behind "Show the numbers".
import { acrossAxis, alongAxis, formatOn, isReadable, place, type Chart, type Layer, type ReadableLayer } from "./chart";
import * as format from "./format";

export interface ReadingRow {
  layer: ReadableLayer;
  label: string;
  value: string;
  details: [string, string][];
  point: [number, number] | null; // where to put a mark
}

export interface Reading {
  heading: string;
  rows: ReadingRow[];
}

/** A point of a layer. */
export interface Spot {
  layer: ReadableLayer;
  index: number;
}

const finite = (value: number | null | undefined): value is number => value != null && Number.isFinite(value);

function valueText(chart: Chart, layer: ReadableLayer, index: number): string {
  const axis = acrossAxis(chart);
  const text = (value: number | null | undefined) => (finite(value) ? formatOn(axis, value) : format.missing);
  switch (layer.kind) {
    case "band":
    case "interval":
      return format.range(text(layer.low[index]), text(layer.high[index]));
    case "heat":
      return format.number(layer.value[index]);
    default:
      return text(layer.value[index]);
  }
}

export function middleOf(layer: ReadableLayer, index: number): number | null {
  if (layer.kind === "heat") return layer.across[index]!;
  if ("value" in layer) return layer.value[index] ?? null;
  const [low, high] = [layer.low[index], layer.high[index]];
  return finite(low) && finite(high) ? (low + high) / 2 : null;
}

function rowOf(chart: Chart, { layer, index }: Spot): ReadingRow {
  const middle = middleOf(layer, index);
  return {
    layer,
    label: layer.label ?? layer.name,
    value: valueText(chart, layer, index),
    details: layer.details?.(index) ?? [],
    point: finite(middle) && "value" in layer ? place(chart, layer.at[index]!, middle) : null,
  };
}

export const readable = (layers: Layer[]): ReadableLayer[] => layers.filter(isReadable);

/** What the layers say at `at`; those count that have a point so near that it seems to lie there. */
export function readAt(chart: Chart, layers: Layer[], at: number, near: (at: number) => boolean): Reading {
  const spots = readable(layers).flatMap((layer): Spot[] => {
    const index = layer.at.reduce((best, v, i) => (Math.abs(v - at) < Math.abs(layer.at[best]! - at) ? i : best), 0);
    return layer.at.length && near(layer.at[index]!) ? [{ layer, index }] : [];
  });
  return { heading: heading(chart, at), rows: spots.map((spot) => rowOf(chart, spot)) };
}

export const readSpot = (chart: Chart, spot: Spot): Reading => ({
  heading: [labelOf(spot), heading(chart, spot.layer.at[spot.index]!)].filter(Boolean).join(", "),
  rows: [rowOf(chart, spot)],
});

const labelsOf = (layer: ReadableLayer) => (layer.kind === "points" ? layer.labels : undefined);

function labelOf({ layer, index }: Spot): string {
  const labels = labelsOf(layer);
  return labels ? `${labels.of} ${labels.texts[index]}` : "";
}

function heading(chart: Chart, at: number): string {
  const axis = alongAxis(chart);
  const text = formatOn(axis, at);
  return axis.name ? `${axis.name}: ${text}` : text;
}

export const spokenReading = ({ heading, rows }: Reading): string =>
  [heading, ...rows.map((row) => `${row.label} ${row.value}`)].join("; ");

/** What is known of points that have names, a column for each thing. */
function detailColumns(layer: ReadableLayer): { name: string; texts: string[] }[] {
  if (!labelsOf(layer)) return [];
  const told = layer.at.map((_, i) => new Map(layer.details?.(i) ?? []));
  const names = [...new Set(told.flatMap((own) => [...own.keys()]))];
  return names.map((name) => ({ name, texts: told.map((own) => own.get(name) ?? format.missing) }));
}

export interface NumberTable {
  head: string[];
  rows: string[][];
}

/** Tables of all that can be read, one for all the layers that have their points at the same places. */
export function tablesOf(chart: Chart): NumberTable[] {
  const families: ReadableLayer[][] = [];
  for (const layer of readable(chart.layers)) {
    const family = families.find(
      ([first]) => first!.at.length === layer.at.length && first!.at.every((v, i) => v === layer.at[i]),
    );
    if (family) family.push(layer);
    else families.push([layer]);
  }
  return families.map((family) => {
    const labels = family.map(labelsOf).find(Boolean);
    const details = family.flatMap(detailColumns);
    return {
      head: [...(labels ? [labels.of] : []), alongAxis(chart).name, ...family.map((layer) => layer.label ?? layer.name), ...details.map(({ name }) => name)],
      rows: family[0]!.at.map((at, i) => [
        ...(labels ? [labels.texts[i]!] : []),
        formatOn(alongAxis(chart), at),
        ...family.map((layer) => valueText(chart, layer, i)),
        ...details.map(({ texts }) => texts[i]!),
      ]),
    };
  });
}

// The one translation of a chart into an option of ECharts, for the screen and for files.
import type { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption } from "echarts/charts";
import type { GridComponentOption } from "echarts/components";
import type { ComposeOption } from "echarts/core";
import { acrossAxis, alongAxis, place, type Axis, type Chart, type Layer, type Symbol } from "./chart";
import * as format from "./format";
import type { Paint } from "./theme";
import { timeTicks } from "./time";

type Series = CustomSeriesOption | LineSeriesOption | ScatterSeriesOption;
type Option = ComposeOption<Series | GridComponentOption>;
type RenderItem = NonNullable<CustomSeriesOption["renderItem"]>;
type Api = Parameters<RenderItem>[1];
type Element = NonNullable<ReturnType<RenderItem>>;
type Pair = [number, number];

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface View {
  paint: Paint;
  width: number;
  fontFamily: string;
  fontSize: number;
  hidden?: ReadonlySet<string>; // names of layers that the legend has switched off
  zoom?: Pair; // a range of the x axis
  onFrame?: (frame: Rectangle) => void; // told where the axes have come to lie
}

export const visibleLayers = (chart: Chart, hidden?: ReadonlySet<string>): Layer[] =>
  chart.layers.filter((layer) => !hidden?.has(layer.name));

const finite = (value: number | null | undefined): value is number => value != null && Number.isFinite(value);

/** Every point that a layer covers, as (along, across). */
function extentOf(layer: Layer): Pair[] {
  switch (layer.kind) {
    case "reference":
      return [];
    case "band":
    case "interval":
      return layer.at.flatMap((at, i) => [layer.low[i], layer.high[i]].filter(finite).map((v): Pair => [at, v]));
    case "bars":
      return layer.value.flatMap((v, i) => (finite(v) ? [[layer.from[i]!, 0] as Pair, [layer.to[i]!, v] as Pair] : []));
    case "heat": {
      const [w, h] = layer.size;
      return layer.at.flatMap((at, i) => [
        [at - w / 2, layer.across[i]! - h / 2] as Pair,
        [at + w / 2, layer.across[i]! + h / 2] as Pair,
      ]);
    }
    default:
      return layer.at.flatMap((at, i) => (finite(layer.value[i]) ? [[at, layer.value[i]!] as Pair] : []));
  }
}

const symbols: Record<Symbol, string> = {
  circle: "circle",
  diamond: "diamond",
  triangle: "triangle",
  rect: "rect",
  tick: "path://M-1,-6L1,-6L1,6L-1,6Z",
};

/** Consecutive indices for which a band is defined. */
function runs(low: (number | null)[], high: (number | null)[]): number[][] {
  const found: number[][] = [[]];
  low.forEach((value, i) => {
    if (finite(value) && finite(high[i])) found.at(-1)!.push(i);
    else found.push([]);
  });
  return found.filter((run) => run.length > 0);
}

/** What ECharts has no series for, drawn from the pixels of its points. */
function shapes(chart: Chart, layer: Layer, colour: string, frame: Rectangle, api: Api): Element[] {
  const pixel = (at: number, value: number) => api.coord(place(chart, at, value)) as Pair;
  switch (layer.kind) {
    case "band":
      return runs(layer.low, layer.high).map((run) => ({
        type: "polygon",
        shape: {
          points: [
            ...run.map((i) => pixel(layer.at[i]!, layer.low[i]!)),
            ...run.reverse().map((i) => pixel(layer.at[i]!, layer.high[i]!)),
          ],
        },
        style: { fill: colour, opacity: layer.opacity ?? 0.2 },
      }));
    case "interval": {
      const cap = layer.caps === false ? 0 : 3;
      const [dx, dy] = place(chart, cap, 0);
      const strokes = layer.at.flatMap((at, i) => {
        const [low, high] = [layer.low[i], layer.high[i]];
        if (!finite(low) || !finite(high)) return [];
        const [a, b] = [pixel(at, low), pixel(at, high)];
        const ends = cap ? [a, b].map(([x, y]) => `M${x - dx},${y - dy}L${x + dx},${y + dy}`) : [];
        return [`M${a}L${b}`, ...ends];
      });
      if (!strokes.length) return [];
      const style = { stroke: colour, lineWidth: layer.width ?? 1.2, fill: "none", opacity: layer.opacity ?? 1 };
      return [{ type: "path", shape: { pathData: strokes.join("") }, style } as Element];
    }
    case "bars":
      return layer.value.flatMap((value, i): Element[] => {
        if (!finite(value)) return [];
        const [[x0, y0], [x1, y1]] = [pixel(layer.from[i]!, 0), pixel(layer.to[i]!, value)];
        const shape = { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
        return [{ type: "rect", shape, style: { fill: colour, opacity: layer.opacity ?? 0.85 } }];
      });
    case "heat": {
      const most = Math.max(...layer.value.filter(finite));
      const [w, h] = layer.size;
      return layer.value.flatMap((value, i): Element[] => {
        if (!finite(value) || !(value > 0)) return [];
        const [[x0, y0], [x1, y1]] = [
          pixel(layer.at[i]! - w / 2, layer.across[i]! - h / 2),
          pixel(layer.at[i]! + w / 2, layer.across[i]! + h / 2),
        ];
        const shape = { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
        return [{ type: "rect", shape, style: { fill: colour, opacity: (layer.opacity ?? 1) * (value / most) } }];
      });
    }
    case "reference": {
      const [[x0, y0], [x1, y1]] = layer.through.map(([at, value]) => pixel(at, value)) as [Pair, Pair];
      const upright = Math.abs(x1 - x0) < 1e-9;
      const slope = (y1 - y0) / (x1 - x0);
      const at = (x: number): Pair => [x, y0 + slope * (x - x0)];
      const [a, b] = upright
        ? [[x0, frame.y], [x0, frame.y + frame.height]] as [Pair, Pair]
        : [at(frame.x), at(frame.x + frame.width)];
      return [
        {
          type: "line",
          shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] },
          style: { stroke: colour, lineWidth: 1.2, lineDash: [5, 4] },
        },
      ];
    }
    default:
      return [];
  }
}

function seriesOf(chart: Chart, layer: Layer, { paint, fontFamily, fontSize }: View): Series {
  const colour = paint(layer.colour);
  const still = { name: format.harmless(layer.name), silent: true, emphasis: { disabled: true }, itemStyle: { color: colour } } as const;
  if (layer.kind === "line") {
    return {
      ...still,
      type: "line",
      data: layer.at.map((at, i) => place(chart, at, layer.value[i] ?? NaN)),
      symbol: layer.symbol ? symbols[layer.symbol] : "none",
      symbolSize: 6,
      showAllSymbol: true,
      lineStyle: { color: colour, width: layer.width ?? 2, type: layer.dash === "long" ? [10, 8] : layer.dash ? [5, 4] : "solid", opacity: layer.opacity ?? 1 },
    };
  }
  if (layer.kind === "points") {
    const shown = layer.at.flatMap((_, i) => (finite(layer.value[i]) ? [i] : []));
    const points = shown.map((i) => place(chart, layer.at[i]!, layer.value[i]!));
    const { labels } = layer;
    const [left, right] = labels ? between(chart.layers.flatMap(extentOf).map(([at, value]) => place(chart, at, value)[0])) : [0, 0];
    return {
      ...still,
      type: "scatter",
      // Labels stand towards the middle, where there is room for them. Of two that overlap that of the larger mark is drawn.
      data: labels
        ? points.map((value) => ({ value, label: { position: value[0] <= (left + right) / 2 ? "right" : "left" } }))
        : points,
      symbol: symbols[layer.symbol ?? "circle"],
      symbolSize: layer.symbol === "tick" ? [2, 12] : (layer.size ?? 7),
      itemStyle: layer.ring
        ? { color: "rgba(0,0,0,0)", borderColor: colour, borderWidth: 1.6, opacity: layer.opacity ?? 1 }
        : layer.hollow
        ? { color: paint("card"), borderColor: colour, borderWidth: 1.6, opacity: layer.opacity ?? 1 }
        : { color: colour, opacity: layer.opacity ?? 1 },
      ...(labels
        ? {
            label: {
              show: true,
              color: paint("ink"),
              fontFamily,
              fontSize,
              formatter: ({ dataIndex }) => format.harmless(labels.texts[shown[dataIndex]!] ?? ""),
            },
            labelLayout: { dy: -fontSize, hideOverlap: true },
          }
        : {}),
    };
  }
  return {
    ...still,
    type: "custom",
    clip: true,
    // The data set the range of the axes; the first of them draws the whole layer. A reference line sets no range.
    data: layer.kind === "reference" ? [[NaN, NaN]] : extentOf(layer).map(([at, value]) => place(chart, at, value)),
    renderItem: (params, api) =>
      params.dataIndexInside === 0
        ? { type: "group", children: shapes(chart, layer, colour, params.coordSys as unknown as Rectangle, api) }
        : null,
  } as CustomSeriesOption;
}

/** A logarithmic axis from power to power: of two where there are few decades, so that it has more than two labels. */
function powersAround([low, high]: Pair) {
  const base = high / low < 200 ? 2 : 10;
  const power = (value: number, round: (v: number) => number) => base ** round(Math.log(value) / Math.log(base));
  return { base, min: power(low, Math.floor), max: power(high, Math.ceil) };
}

/** Of very many decades every so many have a tick, at round powers; undefined where there are few. */
function decadeTicks({ base, min, max }: { base: number; min: number; max: number }): number[] | undefined {
  const [from, to] = [Math.round(Math.log10(min)), Math.round(Math.log10(max))];
  const every = Math.ceil((to - from) / 7);
  if (base !== 10 || every < 2) return undefined;
  const ticks: number[] = [];
  for (let power = Math.ceil(from / every) * every; power <= to; power += every) ticks.push(10 ** power);
  return ticks;
}

function axisOption(axis: Axis, at: "x" | "y", view: View, range: Pair | undefined, extent: Pair) {
  const { paint, fontFamily, fontSize } = view;
  const text = { color: paint("soft"), fontFamily, fontSize };
  const tick = axis.tick ?? axis.format ?? format.tick;
  // Room for a date with its time of day, also on a phone.
  const longest = Math.max(at === "y" ? 20 : 0, Math.floor(view.width / (at === "y" ? 4 : 6) / (fontSize * 0.55)));
  const times = axis.scale === "time" ? timeTicks(...(range ?? extent), view.width / (6 * fontSize)) : undefined;
  const powers = axis.scale === "log" && !range ? powersAround(extent) : undefined;
  const ticks = times ?? (powers && decadeTicks(powers));
  return {
    type: axis.categories ? "category" : axis.scale === "log" ? "log" : "value",
    // The title tells what the categories are.
    name: axis.categories ? "" : format.harmless(format.shorten(axis.name, Math.floor(view.width / fontSize / 0.56))),
    ...(at === "x" ? { nameLocation: "middle", nameGap: fontSize + 18 } : { nameLocation: "end", nameGap: 12 }),
    nameTextStyle: { ...text, align: at === "x" ? "center" : "left" },
    scale: true,
    min: range?.[0] ?? axis.min ?? powers?.min ?? (times && extent[0]),
    max: range?.[1] ?? axis.max ?? powers?.max ?? (times && extent[1]),
    ...(axis.step && !range ? { interval: axis.step } : {}),
    ...(powers ? { logBase: powers.base } : {}),
    splitNumber: at === "x" ? Math.max(2, Math.round(view.width / 110)) : 5,
    axisLine: { show: at === "x", onZero: false, lineStyle: { color: paint("line") } },
    axisTick: { show: false, customValues: ticks },
    splitLine: { show: !axis.categories, lineStyle: { color: paint("line"), opacity: 0.7 } },
    axisLabel: {
      ...text,
      hideOverlap: true,
      customValues: ticks,
      // The ends of a zoomed range are where the hand let go, not round numbers.
      showMinLabel: range ? false : undefined,
      showMaxLabel: range ? false : undefined,
      ...(axis.categories ? { interval: 0 } : {}),
      formatter: (value: string | number) =>
        axis.categories
          ? format.harmless(format.shorten(format.shortTime(String(value)), longest))
          : axis.scale === "time"
            ? format.timeTick(Number(value))
            : tick(Number(value)),
    },
    ...(axis.categories ? { data: axis.categories.map(format.harmless), inverse: at === "y" } : {}),
  };
}

const between = (values: number[]): Pair =>
  values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);

/** The other axis of a zoomed chart: what lies in the range, with a little air. */
function rangeAcross(chart: Chart, layers: Layer[], [from, to]: Pair): Pair | undefined {
  const axis = acrossAxis(chart);
  const values = layers
    .flatMap(extentOf)
    .filter(([at]) => at >= from && at <= to)
    .map(([, value]) => value)
    .concat(axis.include ?? []);
  if (!values.length) return undefined;
  const [low, high] = between(values);
  if (axis.scale === "log") return [low / 1.05, high * 1.05];
  const air = 0.05 * (high - low || Math.abs(high) || 1);
  const fixed = (v: number) => axis.include?.includes(v);
  return [fixed(low) ? low : low - air, fixed(high) ? high : high + air];
}

/** Layers that stand for their name in a legend. */
export const legendLayers = (chart: Chart): Layer[] => {
  const listed = chart.layers.filter((layer) => !layer.unlisted);
  return listed.filter((layer, i) => listed.findIndex((other) => other.name === layer.name) === i);
};

export function optionOf(chart: Chart, view: View): Option {
  const layers = visibleLayers(chart, view.hidden);
  const across = view.zoom && rangeAcross(chart, layers, view.zoom);
  const upright = alongAxis(chart) === chart.x;
  const series = layers.map((layer) => seriesOf(chart, layer, view));
  // A series that draws nothing makes the axes reach what they have to include, and tells where they lie.
  series.push({
    type: "custom",
    silent: true,
    data: [
      [NaN, NaN],
      ...(chart.x.include ?? []).map((value) => [value, NaN]),
      ...(chart.y.include ?? []).map((value) => [NaN, value]),
    ],
    renderItem: (params) => {
      view.onFrame?.(params.coordSys as unknown as Rectangle);
      return null;
    },
  });
  const points = layers.flatMap(extentOf).map(([at, value]) => place(chart, at, value));
  const extent = (axis: Axis, i: 0 | 1) => between([...points.map((point) => point[i]), ...(axis.include ?? [])]);
  return {
    animation: false,
    textStyle: { fontFamily: view.fontFamily },
    grid: {
      left: 8,
      right: 18,
      top: chart.y.categories ? 4 : 26,
      bottom: 6,
      outerBoundsMode: "same",
      outerBoundsContain: "all",
    },
    xAxis: axisOption(chart.x, "x", view, upright ? view.zoom : across, extent(chart.x, 0)),
    yAxis: axisOption(chart.y, "y", view, upright ? across : view.zoom, extent(chart.y, 1)),
    series,
  } as Option;
}

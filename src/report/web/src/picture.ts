// A chart as a stand-alone SVG file: light, on white, with its legend and its text alternative, in the size of a paper's column.
import type { Chart, Layer } from "./chart";
import { init } from "./engine";
import { legendLayers, optionOf } from "./option";
import { fixedPaint } from "./theme";

const width = 640;
const fontFamily = "Arial, Helvetica, 'DejaVu Sans', sans-serif";
const fontSize = 14;
const lineHeight = 22;

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

/** Wide enough for any font that may stand in for the one asked for. */
export const textWidth = (text: string, size: number): number => 0.58 * size * [...text].length;

/** What stands before a name in the legend, in a box of 20 by 10. */
function swatch(layer: Layer, colour: string): string {
  const stroke = (width: number, rest = "") => `<path d="M0,5H20" stroke="${colour}" stroke-width="${width}"${rest}/>`;
  const shape = (d: string) => `<path d="${d}" fill="${colour}"/>`;
  switch (layer.kind) {
    case "reference":
      return stroke(1.5, ' stroke-dasharray="5 4"');
    case "line":
      return stroke(layer.width ?? 2, layer.dash ? ' stroke-dasharray="5 4"' : "");
    case "interval":
      return stroke(layer.width ?? 1.2);
    case "points":
      if (layer.ring) return `<circle cx="10" cy="5" r="5" fill="none" stroke="${colour}" stroke-width="1.6"/>`;
      return {
        circle: `<circle cx="10" cy="5" r="4.5" fill="${colour}"/>`,
        diamond: shape("M10,0L15,5L10,10L5,5Z"),
        triangle: shape("M10,0L15,10L5,10Z"),
        rect: shape("M6,1H14V9H6Z"),
        tick: shape("M9,-1H11V11H9Z"),
      }[layer.symbol ?? "circle"];
    default:
      return `<rect width="20" height="10" rx="2" fill="${colour}" opacity="${"value" in layer ? 0.85 : 1.5 * (layer.opacity ?? 0.2)}"/>`;
  }
}

/** Names and swatches in as many lines as they need. */
function legend(chart: Chart): { svg: string; height: number } {
  const paint = fixedPaint("light");
  let [x, y] = [8, 8];
  const entries = legendLayers(chart).map((layer) => {
    const length = 26 + textWidth(layer.name, fontSize);
    if (x > 8 && x + length > width) [x, y] = [8, y + lineHeight];
    const entry =
      `<g transform="translate(${x} ${y})">${swatch(layer, paint(layer.colour))}` +
      `<text x="26" y="${5 + 0.35 * fontSize}" fill="${paint("ink")}">${escape(layer.name)}</text></g>`;
    x += length + 14;
    return entry;
  });
  if (entries.length < 2) return { svg: "", height: 0 };
  return { svg: `<g font-family="${fontFamily}" font-size="${fontSize}">${entries.join("")}</g>`, height: y + lineHeight };
}

export function pictureOf(chart: Chart): string {
  const top = legend(chart);
  const own = chart.square ? width * 0.8 : (chart.height ?? 380);
  const height = top.height + own;
  const picture = init(null, null, { renderer: "svg", ssr: true, width, height: own });
  picture.setOption(optionOf(chart, { paint: fixedPaint("light"), width, fontFamily, fontSize }));
  const drawing = picture
    .renderToSVGString()
    .replace(/^<svg[^>]*>/, `<g transform="translate(0 ${top.height})">`)
    .replace(/<\/svg>\s*$/, "</g>")
    // Not every program that reads SVG centres text by its baseline.
    .replaceAll('dominant-baseline="central"', 'dy="0.35em"');
  picture.dispose();
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escape(chart.title)}</title>
<desc>${escape(chart.alt)}</desc>
<rect width="100%" height="100%" fill="#ffffff"/>
${top.svg}
${drawing}
</svg>
`;
}

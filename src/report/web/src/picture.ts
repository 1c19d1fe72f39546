// A chart as a stand-alone SVG file: light, on white, with its legend and its text alternative, in the size of a paper's column.
import type { Chart } from "./chart";
import { init } from "./engine";
import { optionOf } from "./option";
import { fixedPaint } from "./theme";

const width = 640;

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

export function pictureOf(chart: Chart): string {
  const height = chart.square ? width * 0.8 : Math.max(400, chart.height ?? 0);
  const picture = init(null, null, { renderer: "svg", ssr: true, width, height });
  picture.setOption({
    backgroundColor: "#ffffff",
    ...optionOf(chart, {
      paint: fixedPaint("light"),
      width,
      fontFamily: "Helvetica, Arial, 'DejaVu Sans', sans-serif",
      fontSize: 14,
      legend: true,
    }),
  });
  const svg = picture.renderToSVGString();
  picture.dispose();
  const words = `<title>${escape(chart.title)}</title><desc>${escape(chart.alt)}</desc>`;
  return `${svg.replace(/^(<svg[^>]*>)/, `$1${words.replaceAll("$", "$$$$")}`)}\n`;
}

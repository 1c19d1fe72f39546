// node figures.cjs DIRECTORY < data.json: writes every chart as an SVG file and prints the files' names, one a line.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sectionsOf } from "./charts";
import { readReport } from "./data";
import { readDocument } from "./document";
import { setPlatformAPI } from "./engine";
import { pictureOf, textWidth } from "./picture";

// There is no browser to measure text.
setPlatformAPI({ measureText: (text, font) => ({ width: textWidth(text, Number(/([\d.]+)px/.exec(font ?? "")?.[1] ?? 12)) }) });

const directory = process.argv[2];
if (!directory) {
  process.stderr.write("usage: node figures.cjs DIRECTORY < data.json\n");
  process.exit(2);
}
const text = readFileSync(0, "utf8");
const sections = readDocument(text)?.sections ?? sectionsOf(readReport(text));
const charts = sections.flatMap((section) => section.charts);
mkdirSync(directory, { recursive: true });
for (const chart of charts) {
  writeFileSync(join(directory, `${chart.id}.svg`), pictureOf(chart));
  process.stdout.write(`${chart.id}.svg\n`);
}

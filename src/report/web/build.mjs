// node build.mjs [--outdir DIR]: makes report.html, the whole page as one file with two places to fill in, and figures.cjs, which writes
// its charts as SVG files.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { outdir } = parseArgs({ options: { outdir: { type: "string", default: join(here, "dist") } } }).values;

const bundled = new Set(); // packages of others inside what is made here

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    write: false,
    metafile: true,
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
    ...options,
  });
  for (const input of Object.keys(result.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) bundled.add(found[1]);
  }
  return result.outputFiles[0].text;
}

/** What a module of the page says, without a page. */
const load = async (entry) => import(`data:text/javascript,${encodeURIComponent(await bundle(entry, { format: "esm" }))}`);

const script = await bundle("page.ts", { minify: true, format: "iife", target: ["es2022"] });
const { themeCss } = await load("theme.ts");
const style = await transform(themeCss() + (await readFile(join(here, "style.css"), "utf8")), { loader: "css", minify: true });

/** Their licences ask to travel with them: licence, notice, and those of what they hold in turn. */
async function licences() {
  const texts = [...bundled].sort().map(async (name) => {
    const folder = join(here, "node_modules", name);
    const entries = await readdir(folder);
    const files = entries.filter((entry) => /^(licen[cs]e|notice)(\.|$)/i.test(entry));
    if (files.length === 0) throw new Error(`${name} has no licence to carry along`);
    if (entries.includes("licenses"))
      for (const entry of (await readdir(join(folder, "licenses"))).sort()) files.push(join("licenses", entry));
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const parts = await Promise.all(files.map(async (file) => (await readFile(join(folder, file), "utf8")).trim()));
    return [`${name} ${version}`, ...parts].join("\n\n");
  });
  return `Parts of this file are the work of others:\n\n${(await Promise.all(texts)).join("\n\n")}\n`;
}

const fill = (page, place, text) => {
  if (page.split(place).length !== 2) throw new Error(`template.html must have ${place} once`);
  return page.replace(place, () => text);
};
let page = await readFile(join(here, "template.html"), "utf8");
page = fill(page, "/* style */", style.code.trim());
page = fill(page, "/* script */", script.replaceAll("</script", "<\\/script").trim());

const figures = await bundle("figures.ts", { platform: "node", target: ["node18"], minify: true, format: "cjs" });
page = fill(page, "licences", (await licences()).replaceAll("--", "- -"));

await mkdir(outdir, { recursive: true });
await writeFile(join(outdir, "report.html"), page);
await writeFile(join(outdir, "figures.cjs"), `${figures}/*\n${(await licences()).replaceAll("*/", "* /")}*/\n`);

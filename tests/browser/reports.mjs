// Reports of the real command, and a real browser to open them in.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const command = process.env.ACCRUE ?? "accrue";
const browserPath = process.env.ACCRUE_CHROMIUM ?? "/usr/bin/chromium";

export const scratch = process.env.ACCRUE_SCRATCH ?? mkdtempSync(join(tmpdir(), "accrue-browser-"));
mkdirSync(scratch, { recursive: true });

export const inScratch = (name) => join(scratch, name);

export const accrue = (...args) =>
  execFileSync(command, args, { cwd: scratch, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] });

/** The same of a command that may end with another status than 0. */
export function accrueStatus(...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: scratch, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return { status, output: stdout };
}

/** The object inside a report. */
export const dataOf = (report) =>
  JSON.parse(/<script type="application\/json" id="report-data">(.*?)<\/script>/s.exec(readFileSync(inScratch(report), "utf8"))[1]);

/** A field of a CSV file, quoted where it has to be. */
const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

export const writeCsv = (name, header, rows) =>
  writeFileSync(inScratch(name), [header, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n");

/** Numbers that are random enough for a picture and the same every time. */
export function noise(seed) {
  let state = seed;
  const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

export const openBrowser = () => chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

/**
 * Opens a report as a reader would who has no network, and waits until all charts are drawn. `problems` collects whatever
 * should never happen: errors, dialogs, requests to anywhere.
 */
export async function openReport(browser, report, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, acceptDownloads: true, ...options });
  await context.setOffline(true);
  const problems = [];
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (/^(file|data|blob):/.test(url)) return route.continue();
    problems.push(`request to ${url}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`page error: ${error}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.goto(pathToFileURL(inScratch(report)).href);
  await page.waitForSelector("html[data-charts=drawn]", { state: "attached" });
  return { page, problems, close: () => context.close() };
}

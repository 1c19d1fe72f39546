// The report in a real browser.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import { accrue, accrueStatus, dataOf, inScratch, noise, openBrowser, openReport, writeCsv } from "./reports.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const hostile = `<img src=x onerror="window.hacked=1">'"</script><script>window.hacked=1</script>`;
const columns = ["--prediction", "prediction", "--observation", "observation"];
const reports = ["late.html", "two.html", "fit.html", "beyond.html", "dates.html", "hostile.html", "many.html", "bare.html", "rain.html", "places.html", "shapes.html", "same.html", "dropped.html", "means.html",
  "replay.html", "monitor.html", "ensemble.html", "quantiles.html"];

/** Rows of a CSV file without quotes. */
const rowsOf = (name) => readFileSync(inScratch(name), "utf8").trim().split("\n").map((line) => line.split(","));

let browser;
let alarm; // of a monitor: exit status and output

before(async () => {
  accrue("generate", "lorenz", "--rows", "6000", "--seed", "1", "-o", "lorenz.csv");
  const [header, ...rows] = rowsOf("lorenz.csv");
  const column = (name) => header.indexOf(name);
  const early = rows.slice(0, 4000);
  const late = rows.slice(4000);
  writeCsv("early.csv", header, early);
  writeCsv("late.csv", [...header, "usual"], late.map((row) => [...row, 0.3 + Number(row[column("lead_time")])]));
  accrue("fit", "early.csv", "--inputs", "lead_time,start", ...columns, "--group", "start_time", "--starts", "2", "--folds", "3",
    "--balance-front", "0.1,0.9", "-o", "model.json", "--report", "fit.html", "--quiet");
  accrue("report", "late.csv", ...columns, "--model", "model.json", "--group", "start_time", "--by", "lead_time", "--time", "start_time", "-o", "late.html");
  accrue("report", "late.csv", ...columns, "--sigma", "usual", "--model", "model.json", "--group", "start_time", "--by", "lead_time", "-o", "two.html");
  // Every tenth row has a lead time that the archive never had.
  writeCsv("beyond.csv", [...header, "usual"], late.map((row, i) => [...row.map((value, k) => (i % 10 === 0 && k === column("lead_time") ? 10 + Number(value) : value)), 0.3]));
  accrue("report", "beyond.csv", ...columns, "--sigma", "usual", "--model", "model.json", "--group", "start_time", "-o", "beyond.html");

  const normal = noise(7);
  const day = (i) => new Date(Date.UTC(2023, 10, 20) + i * 86_400_000).toISOString().slice(0, 10);
  const line = (i) => [20 * Math.sin(i / 20), 1 + 0.5 * Math.cos(i / 9)];
  const made = Array.from({ length: 150 }, (_, i) => {
    const [mu, sigma] = line(i);
    return [day(i), mu, mu + sigma * normal(), sigma];
  });
  writeCsv("dates.csv", ["date", "mu", "y", "sigma"], made);
  accrue("report", "dates.csv", "--prediction", "mu", "--observation", "y", "--sigma", "sigma", "--time", "date", "-o", "dates.html");

  writeCsv("hostile.csv", ["date", "mu", "y", hostile, "group"], made.map((row, i) => [...row, i % 2 ? hostile : `Zürich ${"long ".repeat(60)}`]));
  accrue("report", "hostile.csv", "--prediction", "mu", "--observation", "y", "--sigma", hostile, "--group", "group", "--by", "group", "--inputs", hostile,
    "--title", hostile, "-o", "hostile.html");

  writeCsv("many.csv", ["e", "s", "group"], Array.from({ length: 4500 }, (_, i) => [normal(), 1, `station ${i % 450}`]));
  accrue("report", "many.csv", "--error", "e", "--sigma", "s", "--group", "group", "--by", "group", "-o", "many.html");

  writeCsv("bare.csv", ["e", "s"], [[0.5, 1]]);
  accrue("report", "bare.csv", "--error", "e", "--sigma", "s", "-o", "bare.html");

  // Rain: never negative, often zero, and more rows than are drawn one by one.
  writeCsv("rain.csv", ["mu", "y", "s"], Array.from({ length: 1500 }, (_, i) => [(i % 50) / 10, Math.max(0, (i % 50) / 10 + 2 * normal()), 2]));
  accrue("fit", "rain.csv", "--inputs", "mu", "--form", "constant", "--prediction", "mu", "--observation", "y", "--recalibrate", "isotonic",
    "-o", "rain.json", "--quiet");
  accrue("report", "rain.csv", "--prediction", "mu", "--observation", "y", "--sigma", "s", "--model", "rain.json", "-o", "rain.html");

  accrue("fit", "rain.csv", "--inputs", "mu", "--form", "polynomial", "--prediction", "mu", "--observation", "y", "-o", "dropped.json", "--report", "dropped.html",
    "--quiet");

  accrue("fit", "dates.csv", "--inputs", "sigma,mu", "--observation", "y", "--mean", "auto", "--folds", "2", "--starts", "1", "-o", "means.json", "--report", "means.html",
    "--quiet");

  // One station has a quarter more spread than sigma says, and observations lie above the forecast in December. Names that no page likes.
  const stations = ["__proto__", hostile, "calm", "toString", "convective"];
  const leads = [2, 10, 100];
  const places = Array.from({ length: 4000 }, (_, i) => {
    const station = stations[i % stations.length];
    const time = new Date(Date.UTC(2023, 0, 1) + i * 4 * 3_600_000);
    const bias = time.getUTCMonth() === 11 ? 1 : 0;
    const mu = 10 * normal();
    return [time.toISOString(), mu, mu + bias + (station === "convective" ? 1.25 : 1) * normal(), 1, 1.0001, station, leads[i % leads.length],
      `2023-0${1 + (i % 3)}-01T06:00:00Z`];
  });
  writeCsv("places.csv", ["time", "mu", "y", "s", "also", "station", "lead", "run"], places);
  accrue("report", "places.csv", "--prediction", "mu", "--observation", "y", "--sigma", "s", "--time", "time", "--by", "station", "--by", "lead", "--by", "run",
    "-o", "places.html");
  accrue("report", "places.csv", "--prediction", "mu", "--observation", "y", "--sigma", "s", "--sigma", "also", "--inputs", "mu,lead,s", "-o", "same.html");

  writeCsv("halves.csv", ["e", "s", "half"], Array.from({ length: 1000 }, (_, i) => [(i % 2 ? 0.5 : 1.5) * normal(), 1, i % 2 ? "narrow" : "wide"]));
  accrue("report", "halves.csv", "--error", "e", "--sigma", "s", "--by", "half", "-o", "halves.html");
  // Mean 0 and standard deviation 1 in all groups, but of two values in one of them.
  writeCsv("shapes.csv", ["e", "s", "group"], Array.from({ length: 2000 }, (_, i) => [i % 4 ? normal() : i % 8 ? 1 : -1, 1, ["coin", "one", "two", "three"][i % 4]]));
  accrue("report", "shapes.csv", "--error", "e", "--sigma", "s", "--by", "group", "-o", "shapes.html");

  // An ensemble whose members lie too close together, right quantiles, and a sigma beside them.
  const levels = { q10: -1.2816, q50: 0, q90: 1.2816 };
  writeCsv("ensemble.csv", ["x", "mu", "y", "s", "st", ...Array.from({ length: 9 }, (_, k) => `P${k + 1}`), ...Object.keys(levels)],
    Array.from({ length: 1200 }, (_, i) => {
      const [x, mu] = [i / 1200, 4 * Math.sin(i)];
      return [x, mu, mu + (1 + x) * normal(), 1 + x, `s${i % 4}`, ...Array.from({ length: 9 }, () => mu + 0.5 * (1 + x) * normal()), ...Object.values(levels).map((z) => mu + (1 + x) * z)];
    }));
  const judged = ["--members", "P*", "--quantile-columns", "q10=0.1,q50=0.5,q90=0.9"];
  accrue("report", "ensemble.csv", "--prediction", "mu", "--observation", "y", "--sigma", "s", ...judged, "--baselines", "isotonic", "--exceed", "0,3",
    "--decompose", "--inputs", "x", "--by", "st", "-o", "ensemble.html");
  accrue("report", "ensemble.csv", "--observation", "y", ...judged.slice(2), ...judged.slice(0, 2), "--by", "st", "-o", "quantiles.html");
  accrue("replay", "late.csv", "--model", "model.json", "--time", "start_time", "--report", "replay.html");
  accrue("generate", "lorenz", "--rows", "6000", "--seed", "3", "--change-at", "0.7", "-o", "changed.csv");
  writeCsv("since.csv", header, rowsOf("changed.csv").slice(4001));
  alarm = accrueStatus("monitor", "model.json", "since.csv", "--time", "start_time", "--report", "monitor.html");
  browser = await openBrowser();
});

after(() => browser?.close());

/** A test with a report open; nothing may go wrong in it that nobody asked about. */
const withReport = (name, report, test, options) =>
  it(name, async (t) => {
    const opened = await openReport(browser, report, options);
    try {
      await test(opened.page, t);
      assert.deepEqual(opened.problems, []);
    } finally {
      await opened.close();
    }
  });

/** Marks of the data in every chart: shapes of some extent in a colour that is not the axes'. */
const marks = (page) =>
  page.$$eval(".chart", (charts) =>
    charts.map((chart) => {
      const drawn = [...chart.querySelectorAll("svg path, svg rect, svg circle, svg polyline, svg polygon")].filter((shape) => {
        const box = shape.getBoundingClientRect();
        const paints = [shape.getAttribute("fill"), shape.getAttribute("stroke")];
        return Math.max(box.width, box.height) > 1.5 && paints.some((paint) => /--(forecast-\d|observed|ideal|band)/.test(paint ?? ""));
      });
      return { id: chart.id, count: drawn.length };
    }),
  );

/** Opens the table behind a chart, which is made when it is asked for. */
async function showNumbers(page, chart) {
  await page.locator(`#${chart} summary`).click();
  await page.locator(`#${chart} table`).first().waitFor();
}

const rowOfScore = (page, score) => page.locator("#scores tbody tr", { has: page.getByRole("rowheader", { name: score, exact: true }) });

const tip = (page, chart) => page.locator(`#${chart} .tip`);

describe("Every report", () => {
  for (const report of reports) {
    withReport(`opens without network or errors and draws all charts: ${report}`, report, async (page, t) => {
      const charts = await marks(page);
      assert.ok(charts.length >= 4, `only ${charts.length} charts`);
      for (const { id, count } of charts) assert.ok(count > 0, `${id} has no marks`);
      const size = statSync(inScratch(report)).size;
      assert.ok(size < 1.5e6, `${size} bytes`);
      const text = await page.locator("body").innerText();
      assert.doesNotMatch(text, /\b(NaN|undefined|null|Infinity)\b/);
      const [paint] = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint").map((e) => e.startTime));
      t.diagnostic(`${report}: ${Math.round(size / 1000)} kB, first contentful paint after ${Math.round(paint)} ms`);
    });
  }

  for (const report of ["late.html", "two.html", "fit.html", "beyond.html", "hostile.html", "many.html"])
    withReport(`fits a phone without horizontal scrolling: ${report}`, report, async (page) => {
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
      const wide = await page.$$eval(".plot", (plots) => plots.filter((plot) => plot.querySelector("svg").getBoundingClientRect().width > plot.clientWidth + 1).length);
      assert.equal(wide, 0);
    }, { viewport: { width: 390, height: 844 } });

  for (const [report, colorScheme] of [["two.html", "light"], ["two.html", "dark"], ["fit.html", "light"], ["hostile.html", "dark"]])
    withReport(`has no serious accessibility finding in ${colorScheme}: ${report}`, report, async (page) => {
      await showNumbers(page, "chart-pit");
      await page.addScriptTag({ content: axe });
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(grave.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`), []);
    }, { colorScheme });
});

describe("The numbers", () => {
  withReport("are saved as they are, with the scores that evaluate prints", "late.html", async (page) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the data" }).click()]);
    const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
    assert.match(download.suggestedFilename(), /\.json$/);
    assert.deepEqual(saved, dataOf("late.html"));
    const printed = JSON.parse(accrue("evaluate", "late.csv", ...columns, "--model", "model.json", "--group", "start_time", "--by", "lead_time", "--json"));
    // The page has looked into every place, along time too; the other figures are the same.
    delete printed.verdict;
    const { verdict, ...figures } = saved.scores;
    assert.deepEqual(figures, printed);
    assert.equal(verdict.summary, saved.verdict.summary);
  });

  it("of several forecasts are those that evaluate prints", () => {
    const printed = JSON.parse(
      accrue("evaluate", "late.csv", ...columns, "--sigma", "usual", "--model", "model.json", "--group", "start_time", "--by", "lead_time", "--conditional", "--json"),
    );
    for (const forecast of printed.forecasts) delete forecast.conditional; // of which the page has more
    assert.deepEqual(dataOf("two.html").scores, printed);
  });

  withReport("that matter stand first", "late.html", async (page) => {
    const { scores } = dataOf("late.html");
    const figures = await page.locator(".figure-value").allInnerTexts();
    assert.equal(Number(figures[0]), Number(scores.crps.toPrecision(4)));
    assert.equal(figures[1], `${scores.calibration_error_percent.toFixed(1)}%`);
    assert.equal(figures[2], `${(100 * scores.coverage.find((c) => c.level === 0.9).observed).toFixed(1)}%`);
    assert.ok((await page.locator(".figure-context").nth(1).innerText()).includes(`${scores.calibration_floor_percent.toFixed(1)}%`));
  });

  withReport("tell how many rows lie off the model's support", "two.html", async (page) => {
    const row = page.getByRole("row", { name: /^Rows off support/ });
    const [usual, model] = dataOf("two.html").scores.forecasts;
    assert.equal(usual.off_support_percent, undefined);
    const cells = await row.locator("td").allTextContents();
    assert.ok(cells.includes(`${model.off_support_percent.toFixed(2)}%`), cells.join(" | "));
  });

  withReport("of rows off support stand beside those of all rows", "beyond.html", async (page) => {
    const [usual, model] = dataOf("beyond.html").scores.forecasts;
    assert.equal(usual.off_support, undefined);
    assert.equal(model.off_support.rows, model.rows / 10);
    const table = page.locator("#scores table");
    const head = await table.locator("thead th").allTextContents();
    assert.deepEqual(head, ["Score", "usual", "model.json", "model.json, off support", "Meaning"]);
    const cells = async (score) => (await rowOfScore(page, score).locator("td").allTextContents()).slice(0, 3);
    const four = (value) => Number(value.toPrecision(4));
    assert.deepEqual((await cells("CRPS")).map(Number), [four(usual.crps), four(model.crps), four(model.off_support.crps)]);
    const covered = (figures) => `${(100 * figures.coverage.find(({ level }) => level === 0.9).observed).toFixed(2)}%`;
    assert.deepEqual(await cells("90% interval coverage"), [usual, model, model.off_support].map(covered));
    assert.match(await page.locator("#scores .note").innerText(), /^Off support: /);
  });

  withReport("of rows off support have no column where there are none", "late.html", async (page) => {
    assert.equal(dataOf("late.html").scores.off_support, undefined);
    assert.deepEqual(await page.locator("#scores thead th").allTextContents(), ["Score", "Value", "Meaning"]);
    assert.equal(await page.locator("#scores .note").count(), 0);
  });

  withReport("say that rows which err together are counted as such", "late.html", async (page) => {
    for (const score of ["Effective rows", "Calibration p-value"])
      assert.match(await rowOfScore(page, score).locator(".meaning").innerText(), /where .*groups or neighbours were found to err together/);
  });

  withReport("of a chart are shown in a table", "late.html", async (page) => {
    await showNumbers(page, "chart-pit");
    const cells = await page.locator("#chart-pit tbody tr td:nth-child(2)").allInnerTexts();
    assert.deepEqual(cells, dataOf("late.html").forecasts[0].pit.share.map((share) => `${(100 * share).toFixed(1)}%`));
  });

  withReport("are told by a tooltip", "late.html", async (page) => {
    const { share } = dataOf("late.html").forecasts[0].pit;
    await page.locator("#chart-pit").scrollIntoViewIfNeeded();
    const bars = await page.$$eval('#chart-pit svg path[fill="var(--forecast-0)"], #chart-pit svg rect[fill="var(--forecast-0)"]', (shapes) =>
      shapes.map((shape) => shape.getBoundingClientRect()).map(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 })),
    );
    assert.equal(bars.length, share.length);
    for (const i of [2, share.length - 1]) {
      await page.mouse.move(bars[i].x, bars[i].y);
      const told = await tip(page, "chart-pit").locator("dd").first().innerText();
      assert.equal(told, `${(100 * share[i]).toFixed(1)}%`);
    }
    await page.mouse.move(2, 2);
    await tip(page, "chart-pit").waitFor({ state: "hidden" });
  });

  withReport("are reached with the keyboard alone", "late.html", async (page) => {
    const { probability, observed } = dataOf("late.html").scores.reliability_diagram;
    const reached = () => page.evaluate(() => document.activeElement.closest("#chart-reliability") && document.activeElement.matches(".plot"));
    let tabs = 0;
    while (!(await reached())) {
      assert.ok(++tabs < 60, "Tab does not reach the first chart");
      await page.keyboard.press("Tab");
    }
    for (const i of [0, 1, 2]) {
      await page.keyboard.press("ArrowRight");
      const text = await tip(page, "chart-reliability").innerText();
      assert.ok(text.includes(`${(100 * probability[i]).toFixed(1)}%`), text);
      const told = await tip(page, "chart-reliability").locator("dd").last().innerText();
      assert.equal(told, `${(100 * observed[i]).toFixed(1)}%`);
      assert.ok((await page.locator("[aria-live]").innerText()).includes(told));
    }
    await page.keyboard.press("ArrowLeft");
    assert.ok((await tip(page, "chart-reliability").innerText()).includes(`${(100 * probability[1]).toFixed(1)}%`));
    await page.keyboard.press("Escape");
    await tip(page, "chart-reliability").waitFor({ state: "hidden" });
  });
});

describe("A chart", () => {
  withReport("hides a layer when its name in the legend is pressed", "two.html", async (page) => {
    const drawn = () => page.locator('#chart-reliability svg path[stroke="var(--forecast-1)"]').count();
    const button = page.locator("#chart-reliability .legend").getByRole("button", { name: "model.json" });
    assert.equal(await drawn(), 1);
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.equal(await drawn(), 0);
    await button.click();
    assert.equal(await drawn(), 1);
  });

  withReport("shows a part of itself after a drag, and all of it after a double click", "late.html", async (page) => {
    const chart = page.locator("#chart-reliability-deviation");
    await chart.scrollIntoViewIfNeeded();
    const ticks = () => chart.locator("svg text").allTextContents();
    const whole = await ticks();
    const { x, y, width, height } = await chart.locator(".plot").boundingBox();
    const drag = async () => {
      await page.mouse.move(x + 0.4 * width, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + 0.6 * width, y + height / 2, { steps: 5 });
      await page.mouse.up();
    };
    const reset = chart.getByRole("button", { name: "Reset zoom" });
    await drag();
    await reset.waitFor();
    const part = await ticks();
    assert.ok(!part.includes("0%") || !part.includes("100%"), `ticks of the whole: ${part}`);
    await page.mouse.dblclick(x + width / 2, y + height / 2);
    await reset.waitFor({ state: "hidden" });
    assert.deepEqual(await ticks(), whole);
    await drag();
    await reset.click();
    assert.deepEqual(await ticks(), whole);
  });

  withReport("is saved as a picture that needs nothing of the page", "late.html", async (page) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#chart-reliability").getByRole("button", { name: "Save as SVG" }).click()]);
    const svg = readFileSync(await download.path(), "utf8");
    assert.equal(download.suggestedFilename(), "reliability.svg");
    assert.match(svg, /^<svg /);
    assert.doesNotMatch(svg, /var\(--/);
    assert.equal(await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("parsererror").length, svg), 0);
  });

  withReport("has a text alternative with its numbers", "late.html", async (page) => {
    const { scores } = dataOf("late.html");
    const label = await page.locator("#chart-reliability .plot").getAttribute("aria-label");
    assert.ok(label.includes(`${scores.calibration_error_percent.toFixed(1)}%`), label);
    const unnamed = await page.$$eval(".plot", (plots) => plots.filter((plot) => (plot.getAttribute("aria-label") ?? "").length < 40).length);
    assert.equal(unnamed, 0);
  });

  withReport("of times has dates on its axis", "dates.html", async (page) => {
    const texts = await page.locator("#chart-time svg text").allTextContents();
    for (const month of ["2023-12", "2024", "2024-02"]) assert.ok(texts.includes(month), texts.join(" "));
  });

  withReport("of more than 40 values of a column shows the worst 40 and says so", "many.html", async (page) => {
    const { values } = dataOf("many.html").scores.by[0];
    const ratio = (group) => group.calibration_error_percent / group.calibration_floor_percent;
    const worst = values.reduce((a, b) => (ratio(b) > ratio(a) ? b : a));
    assert.match(await page.locator("#chart-by-calibration figcaption").innerText(), /the 40 are drawn/);
    await showNumbers(page, "chart-by-calibration");
    const names = await page.locator("#chart-by-calibration tbody th").allInnerTexts();
    assert.equal(names[0], worst.name);
    assert.equal(new Set(names).size, 40);
  });

  it("is the same in the page and in a file", async () => {
    accrue("report", "late.csv", ...columns, "--model", "model.json", "--group", "start_time", "--by", "lead_time", "-o", "again.html", "--figures", "figures");
    const { page, close } = await openReport(browser, "again.html");
    const ids = await page.$$eval(".chart", (charts) => charts.map((chart) => chart.id.replace("chart-", "")));
    await close();
    const files = readdirSync(inScratch("figures")).filter((name) => name.endsWith(".svg"));
    assert.deepEqual(files.sort(), ids.map((id) => `${id}.svg`).sort());
    for (const file of files) assert.doesNotMatch(readFileSync(inScratch(`figures/${file}`), "utf8"), /NaN|undefined/);
  });
});

describe("Calibration in each place", () => {
  const numbers = (texts) => texts.map((text) => Number(text.replace("−", "-")));
  const column = (name) => dataOf("places.html").forecasts[0].conditional.columns.find((one) => one.name === name);
  const chartOf = (page, words) => page.locator("#everywhere .chart, #by .chart", { has: page.locator("h3", { hasText: words }) });

  withReport("names the worst place in the words of the verdict, and shows its column first", "places.html", async (page) => {
    const { conditional } = dataOf("places.html").forecasts[0];
    assert.match(conditional.worst, /^in December observations lie 1\.\d\d sigma above the forecast$/);
    assert.ok((await page.locator("#everywhere .lead").innerText()).includes(conditional.worst));
    assert.ok((await page.locator("#verdict .remarks").innerText()).includes(conditional.worst));
    assert.equal(await page.locator("#everywhere h3").first().innerText(), "Bias and spread through the year");
    const titles = await page.locator("#everywhere h3").allInnerTexts();
    assert.equal(titles.length, 2 * conditional.columns.length);
  });

  withReport("is told with what chance may do, in the table and to those who do not see it", "places.html", async (page) => {
    const { mean_z, mean_z_low, mean_z_high } = column("month");
    await showNumbers(page, "chart-everywhere-1");
    const table = page.locator("#chart-everywhere-1 table").first();
    assert.deepEqual((await table.locator("tbody th").allInnerTexts()).slice(-2), ["November", "December"]);
    const head = await table.locator("thead th").allInnerTexts();
    const cells = (name) => table.locator(`tbody td:nth-child(${head.indexOf(name) + 1})`).allInnerTexts();
    const shown = numbers(await cells("bias: mean of z"));
    mean_z.forEach((value, i) => assert.ok(Math.abs(shown[i] - value) <= 0.005 * Math.abs(value), `${shown[i]} for ${value}`));
    const bands = await cells("bias by chance, 98%");
    assert.equal(bands.length, mean_z_low.length);
    const [low, high] = numbers(bands[0].split(" to "));
    assert.ok(Math.abs(low - mean_z_low[0]) < 0.002 && Math.abs(high - mean_z_high[0]) < 0.002, bands[0]);
    const label = await page.locator("#chart-everywhere-1 .plot").getAttribute("aria-label");
    assert.ok(label.includes("Furthest off: December"), label);
    // A ring where chance does not explain it.
    assert.ok((await page.locator('#chart-everywhere-1 svg path[stroke="var(--observed)"]').count()) > 0);
  });

  withReport("has coverage beside it", "places.html", async (page) => {
    const chart = chartOf(page, "Coverage of the 90% interval per station").first();
    await chart.locator("summary").click();
    const table = chart.locator("table").first();
    await table.waitFor();
    const { label, coverage } = column("station");
    const names = await table.locator("tbody th").allInnerTexts();
    const head = await table.locator("thead th").allInnerTexts();
    const shares = await table.locator(`tbody td:nth-child(${head.indexOf("observed") + 1})`).allInnerTexts();
    names.forEach((name, i) => assert.equal(shares[i], `${(100 * coverage[label.indexOf(name)]).toFixed(1)}%`));
    assert.equal(names.length, 5);
  });

  withReport("sorts names by trouble, numbers as numbers and times as times", "places.html", async (page) => {
    const shown = async (words) => {
      const chart = chartOf(page, words);
      await chart.locator("summary").click();
      await chart.locator("table").first().waitFor();
      return chart.locator("table").first().locator("tbody th").allInnerTexts();
    };
    const { label, off } = column("station");
    const byTrouble = [...label].sort((a, b) => off[label.indexOf(b)] - off[label.indexOf(a)]);
    assert.equal(byTrouble[0], "convective");
    assert.deepEqual(await shown("Bias and spread per station"), byTrouble);
    assert.deepEqual(await shown("Calibration error per lead"), ["2", "10", "100"]);
    assert.deepEqual(await shown("Bias and spread per lead"), ["2", "10", "100"]);
    assert.deepEqual(await shown("Calibration error per run"), ["2023-01-01T06:00:00Z", "2023-02-01T06:00:00Z", "2023-03-01T06:00:00Z"]);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img").count(), 0);
  });

  withReport("keeps its marks where every place has a ring", "halves.html", async (page) => {
    const swatch = (name) => page.locator("#chart-everywhere-1 .legend button", { hasText: name }).locator(".swatch").getAttribute("class");
    assert.equal(await swatch("spread: sd of z"), "swatch dot diamond");
    assert.equal(await swatch("further off than chance"), "swatch ring");
  });

  withReport("draws calibration errors where the shape of the errors is what is wrong", "shapes.html", async (page) => {
    const { columns, worst } = dataOf("shapes.html").forecasts[0].conditional;
    assert.match(worst, /^where group is 'coin' the calibration error is 3\d% \(floor \d\.\d%\)$/);
    assert.ok((await page.locator("#everywhere .lead").innerText()).includes(worst));
    const chart = page.locator("#chart-everywhere-1-calibration");
    assert.equal(await chart.locator("h3").innerText(), "Calibration error per group");
    await showNumbers(page, "chart-everywhere-1-calibration");
    const table = chart.locator("table").first();
    assert.equal((await table.locator("tbody th").allInnerTexts())[0], "coin");
    const { label, calibration_error } = columns[0];
    const head = await table.locator("thead th").allInnerTexts();
    const shown = await table.locator(`tbody td:nth-child(${head.indexOf("calibration error") + 1})`).allInnerTexts();
    assert.equal(shown[0], `${(100 * calibration_error[label.indexOf("coin")]).toFixed(1)}%`);
  });

  withReport("says so where there is no trouble", "dates.html", async (page) => {
    assert.match(await page.locator("#everywhere .lead").innerText(), /The test finds no place that is off beyond chance/);
  });
});

describe("A fit", () => {
  withReport("shows the candidates, and says why this one was taken", "fit.html", async (page) => {
    const { candidates, choice } = dataOf("fit.html").forecasts[0].fit;
    const card = page.locator(".candidates");
    assert.ok((await card.innerText()).includes(choice));
    assert.match(choice, /^Of \d candidates /);
    const rows = await card.locator("tbody tr").all();
    assert.equal(rows.length, candidates.length);
    assert.ok(rows.length > 1);
    for (const [i, { description, crps, difference, taken }] of candidates.entries()) {
      assert.equal(await rows[i].locator("th").innerText(), taken ? `${description} (taken)` : description);
      const cells = (await rows[i].locator("td").allInnerTexts()).map((text) => text.replaceAll("−", "-"));
      assert.equal(Number(cells[0]), Number(crps.toPrecision(4)));
      if (i > 0) assert.equal(Number(cells[1]), Number(difference.toPrecision(3)));
    }
  });

  withReport("shows the means that it chose between", "means.html", async (page) => {
    const { means } = dataOf("means.html").forecasts[0].fit;
    assert.ok(means.length > 1);
    const card = page.locator(".of-means");
    const chosen = means.find((one) => one.taken);
    assert.ok((await card.innerText()).includes(`Taken: ${chosen.description}.`));
    const rows = await card.locator("tbody tr").all();
    assert.equal(rows.length, means.length);
    for (const [i, { description, crps, difference, taken }] of means.entries()) {
      assert.equal(await rows[i].locator("th").innerText(), taken ? `${description} (taken)` : description);
      const cells = (await rows[i].locator("td").allInnerTexts()).map((text) => text.replaceAll("−", "-"));
      assert.equal(Number(cells[0]), Number(crps.toPrecision(4)));
      if (i > 0) assert.equal(Number(cells[1]), Number(difference.toPrecision(3)));
    }
  });

  const numbers = (texts) => texts.map((text) => Number(text.split(" ")[0].replaceAll("−", "-")));
  const rounded = (values, digits) => values.map((value) => Number(value.toPrecision(digits)));

  withReport("draws what other balances give, with standard errors, and marks that of the model", "fit.html", async (page) => {
    const { balance_front: front } = dataOf("fit.html").forecasts[0].fit;
    assert.deepEqual(front.map(({ balance, taken }) => [balance, taken]), [[0.1, false], [0.5, true], [0.9, false]]);
    const chart = page.locator("#chart-balance");
    const labels = ["0.1", "0.5 (the model)", "0.9"];
    await showNumbers(page, "chart-balance");
    const table = chart.locator("table");
    assert.deepEqual(await table.locator("tbody th").allInnerTexts(), labels);
    const head = await table.locator("thead th").allInnerTexts();
    const shown = async (name) => {
      assert.ok(head.includes(name), `${name} is not in ${head.join(" | ")}`);
      return table.locator(`tbody td:nth-child(${head.indexOf(name) + 1})`).allInnerTexts();
    };
    assert.deepEqual(numbers(await shown("CRPS")), rounded(front.map(({ crps }) => crps), 4));
    assert.deepEqual(numbers(await shown("reliability score")), rounded(front.map(({ rs }) => rs), 3));
    assert.deepEqual(numbers(await shown("standard error of the CRPS")), rounded(front.map(({ crps_se }) => crps_se), 3));
    const [first] = await shown("CRPS less the model's");
    assert.deepEqual(numbers(first.split(" ± ")), rounded([front[0].crps_difference, front[0].crps_difference_se], 3));

    const texts = await chart.locator("svg text").allTextContents();
    for (const label of labels) assert.ok(texts.includes(label), texts.join(" | "));
    const ring = await chart.locator('svg path[stroke="var(--observed)"]').first().boundingBox();
    const points = await chart.locator('svg path[fill="var(--forecast-0)"]').all();
    assert.equal(points.length, front.length);
    const { x, y, width, height } = await points[1].boundingBox();
    assert.ok(Math.hypot(ring.x + ring.width / 2 - x - width / 2, ring.y + ring.height / 2 - y - height / 2) < 2, "the ring is not around the model");
    // Strokes upwards, of which the model has none as long as they are those of differences from it.
    const strokes = async () => {
      const paths = await chart.locator('svg path[stroke="var(--forecast-0)"]').evaluateAll((all) => all.map((path) => path.getAttribute("d")));
      return paths.map((d) => [...d.matchAll(/M *(\S+?)[ ,](\S+?) *L *(\S+?)[ ,](\S+?)(?= *[ML]|$)/g)].filter(([, x0, y0, x1, y1]) => Math.abs(x0 - x1) < 0.1 && Math.abs(y0 - y1) > 1).length).reduce((a, b) => a + b);
    };
    assert.equal(await strokes(), front.length - 1);
    await chart.locator("select").selectOption({ label: "of each balance by itself" });
    assert.equal(await strokes(), front.length);
    const label = await chart.locator(".plot").getAttribute("aria-label");
    assert.ok(label.includes(`The model has balance 0.5: CRPS ${rounded([front[1].crps], 4)[0]}`), label);
  });

  withReport("has no chart of balances where nobody asked for one", "dropped.html", async (page) => {
    assert.equal(dataOf("dropped.html").forecasts[0].fit.balance_front, undefined);
    assert.equal(await page.locator("#balance").count(), 0);
  });

  withReport("shows which inputs drive location, scale and shape", "fit.html", async (page) => {
    const { importance } = dataOf("fit.html").forecasts[0].fit;
    const largest = ({ location, scale, shape }) => Math.max(location, scale, shape);
    const inOrder = [...importance].sort((a, b) => largest(b) - largest(a));
    assert.deepEqual(importance.map(({ input }) => input), ["lead_time", "start", "prediction"]);
    await showNumbers(page, "chart-importance");
    const table = page.locator("#chart-importance table");
    assert.deepEqual(await table.locator("tbody th").allInnerTexts(), inOrder.map(({ input }) => input));
    const head = await table.locator("thead th").allInnerTexts();
    const label = await page.locator("#chart-importance .plot").getAttribute("aria-label");
    for (const part of ["location", "scale", "shape"]) {
      const place = head.findIndex((name) => name.startsWith(part));
      const [most] = [...importance].sort((a, b) => b[part] - a[part]);
      if (most[part] === 0) {
        assert.equal(place, -1, head.join(" | "));
        assert.ok(label.includes(`No input changes the ${part}.`), label);
        continue;
      }
      assert.deepEqual(numbers(await table.locator(`tbody td:nth-child(${place + 1})`).allInnerTexts()), rounded(inOrder.map((own) => own[part]), 3));
      assert.ok(label.includes(`The ${part} is driven most by ${most.input} (`), label);
    }
  });

  withReport("folds dropped starts away", "dropped.html", async (page) => {
    const dropped = dataOf("dropped.html").forecasts[0].fit.starts.filter(({ kept }) => !kept);
    assert.ok(dropped.length > 0);
    const table = page.locator("#fit .dropped table");
    assert.equal(await table.isVisible(), false);
    await page.locator("#fit .dropped summary").click();
    assert.equal(await table.isVisible(), true);
    assert.equal(await table.locator("tbody tr").count(), dropped.length);
  });
});

describe("The page", () => {
  it("has all charts before it has loaded, so that a picture taken at once shows them", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(() =>
      document.addEventListener("DOMContentLoaded", () => {
        const plots = [...document.querySelectorAll(".plot")];
        window.early = [plots.length, plots.filter((plot) => plot.querySelector("svg path")).length];
      }),
    );
    await page.goto(pathToFileURL(inScratch("two.html")).href);
    const [plots, drawn] = await page.evaluate(() => window.early);
    await context.close();
    assert.ok(plots > 5);
    assert.equal(drawn, plots);
  });

  withReport("shows both of two curves that are equal", "same.html", async (page) => {
    const dashes = (role) => page.$$eval(`#chart-reliability svg path[stroke="var(--${role})"]`, (curves) => curves.map((curve) => curve.getAttribute("stroke-dasharray")));
    assert.deepEqual(await dashes("forecast-0"), [null]);
    assert.deepEqual(await dashes("forecast-1"), ["10,8"]);
    // Rings around points, through which the others are seen.
    const rings = await page.locator('#chart-spread-skill svg path[stroke="var(--forecast-1)"][fill="rgb(0,0,0)"], #chart-spread-skill svg path[stroke="var(--forecast-1)"][fill-opacity="0"]').count();
    assert.ok(rings > 0);
  });

  withReport("leaves no chart alone in half of its width", "same.html", async (page) => {
    const widths = await page.$$eval("#sigma .chart", (charts) => charts.map((chart) => chart.getBoundingClientRect().width));
    assert.equal(widths.length, 3);
    assert.ok(widths[2] > 1.9 * widths[0], widths.join(" "));
  });

  withReport("shows whole timestamps", "places.html", async (page) => {
    const texts = await page.locator("#chart-by-3-calibration svg text").allTextContents();
    for (const time of ["2023-01-01 06:00", "2023-02-01 06:00", "2023-03-01 06:00"]) assert.ok(texts.includes(time), texts.join(" "));
  }, { viewport: { width: 390, height: 844 } });

  withReport("never breaks the name of an option", "places.html", async (page) => {
    const { command } = dataOf("places.html");
    const options = await page.$$eval("#configuration pre .option", (spans) => spans.map((span) => [span.textContent, span.getClientRects().length]));
    assert.deepEqual(options.map(([name]) => name), command.split(" ").filter((word) => word.startsWith("--")));
    for (const [name, lines] of options) assert.equal(lines, 1, name);
    assert.equal(await page.locator("#configuration pre").first().textContent(), command);
  }, { viewport: { width: 390, height: 844 } });
});

describe("The distribution of one row", () => {
  withReport("is that of the row that is picked", "two.html", async (page) => {
    const rows = dataOf("two.html").forecasts.map(({ densities }) => densities);
    const select = page.locator("#chart-density select");
    assert.equal(await select.locator("option").count(), rows[0].length);
    const area = () => page.$eval('#chart-density svg path[stroke="var(--forecast-1)"]', (curve) => curve.getAttribute("d"));
    const before = await area();
    const last = rows[0].length - 1;
    await select.selectOption(String(last));
    assert.notEqual(await area(), before);
    const label = await page.locator("#chart-density .plot").getAttribute("aria-label");
    for (const [i, name] of ["usual", "model.json"].entries())
      assert.ok(label.includes(`${name}: median`) && label.includes(`${(100 * rows[i][last].below).toFixed(1)}% of the probability lies below it`), label);
    await showNumbers(page, "chart-density");
    const cells = await page.locator("#chart-density table").first().locator("tbody td:nth-child(2)").allInnerTexts();
    assert.equal(cells.length, rows[0][last].density.length);
    const shown = cells.map(Number);
    rows[0][last].density.forEach((value, i) => assert.ok(Math.abs(shown[i] - value) <= 1e-3 * value + 1e-9, `${shown[i]} for ${value}`));
  });
});

describe("A replay", () => {
  withReport("shows scores, calibration and coverage along time, adapting beside static", "replay.html", async (page) => {
    const { through_time: through, verdict } = dataOf("replay.html");
    assert.deepEqual(through.forecasts.map(({ name }) => name), ["adapting", "static"]);
    assert.equal(await page.locator("#through-time .chart").count(), 3);
    await showNumbers(page, "chart-through-time-crps");
    const table = page.locator("#chart-through-time-crps table").first();
    const head = await table.locator("thead th").allInnerTexts();
    for (const { name, crps } of through.forecasts) {
      const cells = await table.locator(`tbody td:nth-child(${head.indexOf(name) + 1})`).allInnerTexts();
      assert.deepEqual(cells.map(Number), crps.map((value) => Number(value.toPrecision(4))));
    }
    for (const chart of ["crps", "calibration", "coverage"])
      for (const role of ["forecast-0", "forecast-1"])
        assert.ok((await page.locator(`#chart-through-time-${chart} svg path[stroke="var(--${role})"]`).count()) > 0, `${role} is not in ${chart}`);
    assert.equal(await page.locator("#by").count(), 0);
    assert.ok((await page.locator("#verdict h2").innerText()).startsWith(verdict.summary.split(": ")[0]));
  });
});

describe("A monitor", () => {
  withReport("draws the evidence through time with the threshold of the alarm", "monitor.html", async (page) => {
    const { monitor, verdict } = dataOf("monitor.html");
    assert.equal(alarm.status, 3);
    assert.equal(monitor.alarm, true);
    assert.ok(alarm.output.includes(verdict.summary), alarm.output);
    assert.match(await page.locator("#verdict h2").innerText(), /^Alarm at /);
    await showNumbers(page, "chart-evidence");
    assert.equal(await page.locator("#chart-evidence tbody tr").count(), monitor.times.length);
    assert.ok((await page.locator('#chart-evidence svg path[stroke="var(--ideal)"]').count()) === 1, "no threshold");
    assert.ok((await page.locator('#chart-evidence svg path[fill="var(--forecast-1)"]').count()) === 1, "no mark at the alarm");
    // A logarithmic axis: equal steps are equal factors.
    const ticks = (await page.locator("#chart-evidence svg text").allTextContents()).map((text) => Number(text.replaceAll(",", "").replace("−", "-"))).filter((v) => v >= 1);
    assert.ok(Math.max(...ticks) >= 50, ticks.join(" "));
  });
});

describe("Several forecasts", () => {
  withReport("are drawn in the same charts, each in its colour", "two.html", async (page) => {
    for (const chart of ["reliability", "pit", "predictions", "input-1", "by-coverage", "spread-skill"])
      for (const role of ["forecast-0", "forecast-1"]) {
        const count = await page.locator(`#chart-${chart} svg [fill="var(--${role})"], #chart-${chart} svg [stroke="var(--${role})"]`).count();
        assert.ok(count > 0, `${role} is not in ${chart}`);
      }
  });

  withReport("are compared in a table", "two.html", async (page) => {
    const [{ crps }] = dataOf("two.html").scores.comparison;
    const row = page.locator("#comparison tbody tr").first();
    const told = (await row.locator("td").nth(1).innerText()).replace("−", "-");
    assert.equal(Number(told), Number(crps.difference.toPrecision(3)));
    assert.equal(await page.locator("#verdict tbody tr").count(), 2);
  });
});

describe("Ensembles and quantile forecasts", () => {
  withReport("stand beside others, with a rank histogram and how often observations lie below a quantile", "ensemble.html", async (page) => {
    const [, ensemble, quantiles, isotonic] = dataOf("ensemble.html").scores.forecasts;
    assert.equal(ensemble.rank_histogram.share.length, 10);
    assert.ok(isotonic.fitted_on_these_rows);
    for (const chart of ["ranks-2", "quantiles", "threshold-1", "threshold-2"]) assert.ok(await page.locator(`#chart-${chart} svg`).count(), chart);
    await showNumbers(page, "chart-ranks-2");
    assert.equal(await page.locator("#chart-ranks-2 tbody tr").count(), 10);
    // Too close together: most observations lie outside of the members.
    assert.ok(ensemble.rank_histogram.share[0] > ensemble.rank_histogram.high);
    const text = async (score, place) => (await rowOfScore(page, score).locator("td").nth(place).innerText()).replace("−", "-");
    assert.equal(Number(await text("Fair CRPS", 1)), Number(ensemble.fair_crps.toPrecision(4)));
    assert.equal(await text("Fair CRPS", 0), "–");
    assert.equal(await text("CRPS", 2), `${Number(quantiles.crps.toPrecision(4))} (at 3 levels)`);
    assert.equal(await text("Calibration error", 2), "–");
    assert.match(await page.locator("#verdict").innerText(), /q10 to q90: Calibrated on average at all its levels/);
  });

  withReport("need no prediction, and a quantile forecast may come first", "quantiles.html", async (page) => {
    const [quantiles, ensemble] = dataOf("quantiles.html").forecasts;
    assert.equal(quantiles.pit, null);
    assert.equal(ensemble.conditional.columns[0].name, "st");
    for (const chart of ["quantiles", "ranks-2", "pit", "by-coverage"]) assert.ok(await page.locator(`#chart-${chart} svg`).count(), chart);
    await showNumbers(page, "chart-quantiles");
    assert.equal(await page.locator("#chart-quantiles tbody tr").count(), 3);
  });
});

describe("A recalibrated forecast of rain", () => {
  withReport("has no p-value for a score that it does not have", "rain.html", async (page) => {
    const [crps, nlpd] = await page.locator("#comparison tbody tr").all();
    assert.deepEqual(await nlpd.locator("td").allInnerTexts(), ["NLPD", "–", "–", "–", "–"]);
    assert.ok(!(await crps.innerText()).includes("–"), await crps.innerText());
  });

  withReport("is shown beside what was observed, and rain was never negative", "rain.html", async (page) => {
    for (const { along_prediction } of dataOf("rain.html").forecasts)
      for (const share of ["05", "25", "50", "75", "95"])
        assert.ok(Math.min(...along_prediction[`observed_q${share}`]) >= 0, share);
    await showNumbers(page, "chart-predictions");
    const table = page.locator("#chart-predictions table").first();
    const head = await table.locator("thead th").allInnerTexts();
    const columns = head.flatMap((name, i) => (name.startsWith("observed") ? [i - 1] : []));
    assert.ok(columns.length >= 3, head.join(" | "));
    for (const row of await table.locator("tbody tr").all()) {
      const cells = await row.locator("td").allInnerTexts();
      for (const i of columns) assert.doesNotMatch(cells[i], /[−-]/);
    }
  });

  withReport("is compared in the words of evaluate", "rain.html", async (page) => {
    const printed = accrue("evaluate", "rain.csv", "--prediction", "mu", "--observation", "y", "--sigma", "s", "--model", "rain.json");
    const sentence = dataOf("rain.html").scores.lowest_crps.sentence;
    assert.match(sentence, /^Lowest CRPS: rain.json\. Clearly lower than that of s \(by /);
    assert.ok(printed.replace(/\s+/g, " ").includes(sentence), printed);
    assert.ok((await page.locator("#verdict").innerText()).includes(sentence));
  });
});

describe("Colours", () => {
  const colours = (page) =>
    page.evaluate(() => ({
      page: getComputedStyle(document.body).backgroundColor,
      text: getComputedStyle(document.body).color,
      label: getComputedStyle(document.querySelector("#chart-reliability svg text")).fill,
      curve: getComputedStyle(document.querySelector('#chart-reliability svg [stroke="var(--forecast-0)"]')).stroke,
    }));
  const brightness = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3;
  const isDark = (seen) => brightness(seen.page) < 60 && brightness(seen.text) > 180 && brightness(seen.label) > 120;
  const isLight = (seen) => brightness(seen.page) > 200 && brightness(seen.text) < 80 && brightness(seen.label) < 130;

  withReport("follow the system, in the charts too", "late.html", async (page) => {
    const light = await colours(page);
    assert.ok(isLight(light), JSON.stringify(light));
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await colours(page);
    assert.ok(isDark(dark), JSON.stringify(dark));
    assert.notEqual(dark.curve, light.curve);
  });

  withReport("follow the button, whatever the system says", "late.html", async (page) => {
    const before = await colours(page);
    await page.getByRole("button", { name: "Dark colours" }).click();
    assert.ok(isDark(await colours(page)));
    await page.getByRole("button", { name: "Light colours" }).click();
    assert.deepEqual(await colours(page), before);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await colours(page), before);
  });

  withReport("are light on paper", "late.html", async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const { text, label } = await colours(page);
    assert.ok(brightness(text) < 80 && brightness(label) < 130);
  }, { colorScheme: "dark" });
});

describe("On paper", () => {
  /** What is painted on each page of a PDF file. */
  function pagesOf(pdf) {
    const text = pdf.toString("latin1");
    return [...text.matchAll(/\/Type \/Page\b[^]*?\/Contents (\d+) 0 R/g)].map(([, id]) => {
      const [head] = new RegExp(`\\n${id} 0 obj[^]*?stream\\r?\\n`).exec(text);
      const begin = text.indexOf(head) + head.length;
      const length = Number(/\/Length (\d+)/.exec(head)[1]);
      return inflateSync(pdf.subarray(begin, begin + length)).toString("latin1");
    });
  }

  for (const report of ["two.html", "many.html"])
    withReport(`takes several pages, none of them blank: ${report}`, report, async (page) => {
      const pages = pagesOf(await page.pdf({ preferCSSPageSize: true, printBackground: true }));
      assert.ok(pages.length > 1, `${pages.length} pages`);
      pages.forEach((content, i) => assert.match(content, /\bT[jJ]\b/, `page ${i + 1} has no text`));
    });

  withReport("shrinks the charts into their frames", "two.html", async (page) => {
    await page.emulateMedia({ media: "print" });
    const wide = await page.evaluate(() => {
      document.body.style.width = "690px"; // as wide as A4, and measured before the page could draw anything anew
      const beyond = (chart) => [...chart.querySelectorAll("svg, svg text")].some((part) => part.getBoundingClientRect().right > chart.getBoundingClientRect().right);
      return [...document.querySelectorAll(".chart")].filter(beyond).map(({ id }) => id);
    });
    assert.deepEqual(wide, []);
  });
});

describe("Names from the data", () => {
  withReport("are shown as text and never run", "hostile.html", async (page) => {
    assert.equal(await page.locator("h1").innerText(), hostile);
    assert.equal(await page.title(), hostile);
    for (const chart of ["chart-by-calibration", "chart-reliability", "chart-input-1"]) {
      const plot = page.locator(`#${chart} .plot`);
      await plot.scrollIntoViewIfNeeded();
      const { x, y, width, height } = await plot.boundingBox();
      await page.mouse.move(x + width / 2, y + height / 2);
      await tip(page, chart).waitFor();
    }
    await showNumbers(page, "chart-by-calibration");
    assert.equal(await page.locator("#chart-by-calibration tbody th").nth(1).innerText(), hostile);
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
  });
});

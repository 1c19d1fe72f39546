// The report in a real browser.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { inflateSync } from "node:zlib";
import { accrue, dataOf, inScratch, noise, openBrowser, openReport, writeCsv } from "./reports.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const hostile = `<img src=x onerror="window.hacked=1">'"</script><script>window.hacked=1</script>`;
const columns = ["--prediction", "prediction", "--observation", "observation"];
const reports = ["late.html", "two.html", "fit.html", "dates.html", "hostile.html", "many.html", "bare.html", "rain.html"];

/** Rows of a CSV file without quotes. */
const rowsOf = (name) => readFileSync(inScratch(name), "utf8").trim().split("\n").map((line) => line.split(","));

let browser;

before(async () => {
  accrue("generate", "lorenz", "--rows", "6000", "--seed", "1", "-o", "lorenz.csv");
  const [header, ...rows] = rowsOf("lorenz.csv");
  const column = (name) => header.indexOf(name);
  const early = rows.slice(0, 4000);
  const late = rows.slice(4000);
  writeCsv("early.csv", header, early);
  writeCsv("late.csv", [...header, "usual"], late.map((row) => [...row, 0.3 + Number(row[column("lead_time")])]));
  accrue("fit", "early.csv", "--inputs", "lead_time,start", ...columns, "--group", "start_time", "--starts", "2", "--folds", "3",
    "-o", "model.json", "--report", "fit.html", "--quiet");
  accrue("report", "late.csv", ...columns, "--model", "model.json", "--group", "start_time", "--by", "lead_time", "--time", "start_time", "-o", "late.html");
  accrue("report", "late.csv", ...columns, "--sigma", "usual", "--model", "model.json", "--group", "start_time", "--by", "lead_time", "-o", "two.html");

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

  for (const report of ["late.html", "two.html", "hostile.html", "many.html"])
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
    const printed = accrue("evaluate", "late.csv", ...columns, "--model", "model.json", "--group", "start_time", "--by", "lead_time", "--json");
    assert.deepEqual(saved.scores, JSON.parse(printed));
  });

  it("of several forecasts are those that evaluate prints", () => {
    const printed = accrue("evaluate", "late.csv", ...columns, "--sigma", "usual", "--model", "model.json", "--group", "start_time", "--by", "lead_time", "--json");
    assert.deepEqual(dataOf("two.html").scores, JSON.parse(printed));
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

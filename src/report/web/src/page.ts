// The page: verdict, charts, tables, configuration.
import { sectionsOf, type Section } from "./charts";
import { startName } from "./charts/fit";
import type { Chart } from "./chart";
import { readReport, type Candidate, type Monitor, type Report } from "./data";
import { readDocument, type DocumentSection } from "./document";
import { h, save, tableOf, words } from "./dom";
import * as format from "./format";
import { Plot } from "./plot";
import { comparisonTable, coverageOf, hasOffSupport, levelText, scoreTable, shortTable } from "./scores";

const kinds: Record<string, string> = {
  "out of fold": "Figures are out of fold: every row was scored by a sigma that was learned without it.",
  "test rows": "Figures are of test rows, which took no part in the fit.",
  replay: "Each row was forecast from what had been observed by then, by the model that learns and by the same model that does not.",
  monitor: "All rows since the model was fitted, forecast by the model as it was fitted.",
};

const offSupportNote =
  "Off support: the same scores of those rows alone with an input that the archive of the model never had: outside its range, in a gap of it, or a category not in it. The other columns are of all rows, these among them.";

function heading(data: { title: string; subtitle: string; kind?: string }, embedded: string): HTMLElement {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => (dark() ? "Light colours" : "Dark colours");
  const theme = h("button", { type: "button", id: "theme" }, label());
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    theme.textContent = label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (theme.textContent = label()));
  return h(
    "header",
    {},
    h(
      "div",
      { class: "bar" },
      h("p", { class: "brand" }, "accrue", h("span", {}, "report")),
      h(
        "div",
        { class: "tools" },
        h("button", { type: "button", id: "save", click: () => save(fileName(data.title), "application/json", embedded) }, "Save the data"),
        theme,
      ),
    ),
    h("h1", {}, data.title),
    h("p", { class: "subtitle" }, data.subtitle),
    data.kind && kinds[data.kind] ? h("p", { class: "subtitle" }, kinds[data.kind]!) : null,
  );
}

const fileName = (title: string): string =>
  `${title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60).toLowerCase() || "report"}.json`;

function figure(name: string, value: string, context: string, meaning: string): HTMLElement {
  return h(
    "div",
    { class: "figure" },
    h("p", { class: "figure-name" }, name),
    h("p", { class: "figure-value" }, value),
    h("p", { class: "figure-context" }, context),
    h("p", { class: "figure-meaning" }, meaning),
  );
}

function verdict(report: Report): HTMLElement {
  const { data, entries, several } = report;
  const { summary, remarks } = data.verdict;
  const [word, ...rest] = summary.split(": ");
  const levels = entries[0]?.scores.coverage.map((c) => c.level) ?? [];
  const level = levels.length ? levels.reduce((best, v) => (Math.abs(v - 0.9) < Math.abs(best - 0.9) ? v : best)) : undefined;
  const scores = entries[0]?.scores;
  const covered = scores && level !== undefined ? coverageOf(scores, level) : undefined;
  const part = (value: number | null) => (value == null ? null : value / 100);
  return h(
    "section",
    { id: "verdict", class: "card verdict", "aria-labelledby": "verdict-title" },
    several ? h("p", { class: "figure-name" }, `First forecast: ${entries[0]!.label}`) : null,
    h("h2", { id: "verdict-title" }, rest.length ? `${word}.` : summary),
    rest.length ? h("p", { class: "summary" }, words(capital(rest.join(": ")))) : null,
    remarks.length ? h("ul", { class: "remarks" }, remarks.map((remark) => h("li", {}, words(remark)))) : null,
    data.monitor ? drift(data.monitor) : null,
    scores && !data.monitor
      ? h(
          "div",
          { class: "figures" },
          figure("CRPS", format.number(scores.crps), `skill ${format.signed(scores.crps_skill)} over a constant sigma`, "Accuracy, in the unit of the observation: lower is better."),
          figure(
            "Calibration error",
            format.percent(part(scores.calibration_error_percent)),
            `floor ${format.percent(part(scores.calibration_floor_percent))} if calibrated`,
            "How far stated probabilities are from what happened, at worst.",
          ),
          covered
            ? figure(
                `${levelText(covered.level)} interval coverage`,
                format.percent(covered.observed),
                `mean width ${format.number(covered.mean_width)}`,
                `Share of observations inside: ${levelText(covered.level)} is right.`,
              )
            : null,
        )
      : null,
    several ? shortTable(report, level) : null,
    several ? h("ul", { class: "remarks" }, others(report).map((line) => h("li", {}, words(line)))) : null,
  );
}

function drift(monitor: Monitor): HTMLElement {
  const strongest = Math.max(...monitor.evidence.map((v) => v ?? 0));
  return h(
    "div",
    { class: "figures" },
    figure("Strongest evidence", format.number(strongest, 3), `an alarm needs ${format.number(monitor.threshold)}`, "What a fair bet on a change would have made of 1."),
    figure("Times", format.integer(monitor.steps), monitor.alarm ? "alarm" : "no alarm", "Each is a step of the test, which is valid at every one of them."),
    figure("Rows off support", format.percent(monitor.off_support), "0% if inputs stay in range", "Rows with an input outside the range that the model was fitted on."),
  );
}

/** The later forecasts in a sentence each, and which is the best. */
const others = ({ entries, lowest }: Report): string[] => [
  ...entries.slice(1).map(({ label, scores }) => `${label}: ${scores.verdict.summary}`),
  ...(lowest === null ? [] : [lowest]),
];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function chapter(id: string, title: string, lead: string, ...content: (HTMLElement | null)[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), lead ? h("p", { class: "lead" }, words(lead)) : null, content);
}

/** Several that the fit chose between, with their scores; the sentence says why this one was taken. */
function choiceOf(kind: string, title: string, first: string, all: Candidate[], sentence: string | undefined, note: string): HTMLElement {
  const taken = all.find((one) => one.taken);
  const rows = all.map((one) => {
    const other = one.compared_with === undefined ? undefined : all[one.compared_with];
    return [
      one.taken ? h("span", { class: "taken" }, `${one.description} (taken)`) : one.description,
      format.number(one.crps),
      other ? format.number(one.difference, 3) : format.missing,
      other && one.low != null ? format.range(format.number(one.low, 3), format.number(one.high, 3)) : format.missing,
      other ? other.description : format.missing,
      !other ? "the simplest" : (one.high ?? 0) < 0 ? "clearly better" : (one.low ?? 0) > 0 ? "clearly worse" : "cannot be told",
    ];
  });
  return h(
    "div",
    { class: `card candidates ${kind}` },
    h("h3", {}, title),
    h("p", { class: "good" }, sentence ?? (taken ? `Taken: ${taken.description}.` : "")),
    tableOf(title, [first, "CRPS out of fold", "Difference", "95% interval", "Compared with", "Result"], rows),
    h("p", { class: "note" }, `${note} Differences are paired, row by row; below 0 the candidate is better.`),
  );
}

/** What was left to the fit: ways to learn the mean, families and locations. */
function choices(report: Report): HTMLElement | null {
  const tables = report.entries.flatMap((entry) => {
    const { means = [], candidates = [], choice } = entry.forecast.fit ?? {};
    const title = (what: string): string => (report.several ? `${what} of ${entry.label}` : what);
    return [
      means.length
        ? choiceOf("of-means", title("Means"), "Mean", means, undefined, "Ways to learn the mean, in the order of their simplicity; one is taken when it is clearly better than the one that was ahead until then.")
        : null,
      candidates.length
        ? choiceOf("of-fits", title("Candidates"), "Candidate", candidates, choice, "In the order of their simplicity, each with one start per fold; a candidate is taken when it is clearly better than the one that was ahead until then.")
        : null,
    ].filter((table) => table !== null);
  });
  return tables.length ? h("div", {}, tables) : null;
}

/** Starts that did not make it into the model, with the reasons. */
function droppedStarts(report: Report): HTMLElement | null {
  const rows = report.entries.flatMap((entry) =>
    (entry.forecast.fit?.starts ?? [])
      .filter((start) => !start.kept)
      .map((start) => [
        startName(start),
        ...(report.several ? [entry.name] : []),
        format.integer(start.iterations),
        start.reason,
        format.number(start.validation_cost),
        start.dropped_because ?? "",
      ]),
  );
  if (!rows.length) return null;
  return h(
    "div",
    { class: "card" },
    h(
      "details",
      { class: "dropped" },
      h("summary", {}, `${capital(format.count(rows.length, "start"))} ${rows.length === 1 ? "was" : "were"} dropped`),
      tableOf("Dropped starts", ["Start", ...(report.several ? ["Forecast"] : []), "Iterations", "Stopped", "Validation cost", "Dropped because"], rows),
    ),
  );
}

const plain = (value: unknown): string => (Array.isArray(value) ? value.map(plain).join(", ") : typeof value === "string" ? value : JSON.stringify(value));

function list(pairs: [string, unknown][]): HTMLElement {
  return h("dl", { class: "pairs" }, pairs.flatMap(([name, value]) => [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, plain(value))]));
}

function configuration(report: Report): HTMLElement {
  const { data } = report;
  return chapter(
    "configuration",
    "Configuration",
    "All that is needed to make this page again.",
    h(
      "div",
      { class: "card" },
      h("h3", {}, "This report"),
      h("pre", { tabindex: 0, "aria-label": "Command" }, words(data.command)),
      list([["accrue", data.accrue], ["files", data.files], ...Object.entries(data.columns)]),
    ),
    ...report.entries.map((entry) => {
      const model = entry.forecast.model;
      return model
        ? h(
            "div",
            { class: "card" },
            h("h3", {}, data.kind === "rows" ? `Model ${entry.name}` : "The model"),
            list([["accrue", model.accrue], ...Object.entries(model.configuration), ...Object.entries(model.columns)]),
          )
        : null;
    }),
    data.notes.length ? h("div", { class: "card" }, h("h3", {}, "Notes"), h("ul", {}, data.notes.map((note) => h("li", {}, words(note))))) : null,
  );
}

function charts(section: Section, plots: Plot[], extra: HTMLElement | null, before: HTMLElement | null = null): HTMLElement {
  const own = section.charts.map((chart) => plots.find((plot) => plot.chart === chart)!.element);
  return chapter(section.id, section.title, section.lead, before, h("div", { class: section.paired && own.length > 1 ? "pairs-of-charts" : "charts" }, own), extra);
}

const spoken = h("div", { class: "unseen", "aria-live": "polite" });

const plotsOf = (sections: { charts: Chart[] }[]): Plot[] =>
  sections.flatMap((section) => section.charts.map((chart) => new Plot(chart, (text) => (spoken.textContent = text))));

/** What a document says of a thing: the paper's words, ours, charts and tables. */
function part(section: DocumentSection, plots: Plot[]): HTMLElement {
  const statements = section.statements.map(({ who, text }) => [h("dt", {}, who), h("dd", {}, text)]);
  const tables = section.tables.map(({ title, head, rows, note }) =>
    h("div", { class: "card" }, h("h3", {}, title), tableOf(title, head, rows), note ? h("p", { class: "note" }, note) : null),
  );
  return charts(
    { id: section.id, title: section.title, lead: "", charts: section.charts, paired: true },
    plots,
    h("div", {}, tables),
    statements.length ? h("div", { class: "card" }, h("dl", { class: "pairs" }, statements.flat())) : null,
  );
}

function build(): void {
  const embedded = document.getElementById("report-data")!.textContent!;
  const described = readDocument(embedded);
  if (described) {
    const plots = plotsOf(described.sections);
    const chapters = described.sections.map((section) => part(section, plots));
    const made = chapter("configuration", "Configuration", "All that is needed to make this page again.", h("div", { class: "card" }, h("pre", { tabindex: 0, "aria-label": "Command" }, words(described.command))));
    show(heading(described, embedded), null, [...chapters, made], described.accrue, plots);
    return;
  }
  const report = readReport(embedded);
  const sections = sectionsOf(report);
  const plots = plotsOf(sections);
  const chapters = [
    ...sections.map((section) => charts(section, plots, section.id === "fit" ? droppedStarts(report) : null, section.id === "fit" ? choices(report) : null)),
    ...(report.comparison.length
      ? [
          chapter(
            "comparison",
            "Comparison",
            "Differences row by row; below 0 the later forecast is better.",
            h("div", { class: "card" }, comparisonTable(report), h("p", { class: "note" }, `Intervals and p-values count ${report.comparison[0]!.independent} as independent.`)),
          ),
        ]
      : []),
    chapter("scores", "All scores", "", h("div", { class: "card" }, scoreTable(report), hasOffSupport(report) ? h("p", { class: "note" }, offSupportNote) : null)),
    configuration(report),
  ];
  show(heading(report.data, embedded), verdict(report), chapters, report.data.accrue, plots);
}

function show(head: HTMLElement, first: HTMLElement | null, chapters: HTMLElement[], version: string, plots: Plot[]): void {
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main" }, first ? "Skip to the verdict" : "Skip to the content"),
    head,
    h(
      "nav",
      { "aria-label": "Parts of the report" },
      chapters.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent)),
    ),
    h("main", { id: "main", tabindex: -1 }, first, chapters),
    h("footer", {}, h("p", {}, `Made by accrue ${version}. This page needs no network; its numbers are inside.`)),
    h("p", { class: "unseen", id: "chart-help" }, "Arrow keys read the chart point by point, Escape ends."),
    spoken,
  );
  // At once: a page that is printed or pictured as soon as it has loaded has all its charts.
  plots.forEach((plot) => plot.draw());
  document.documentElement.dataset.charts = "drawn";
}

try {
  build();
} catch (error) {
  document.body.replaceChildren(h("main", { id: "main" }, h("h1", {}, "This report cannot be drawn"), h("p", {}, String(error))));
  throw error;
}

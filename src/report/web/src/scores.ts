// The scores as tables: every figure with its meaning in a line.
import { type Comparison, type Difference, type Entry, type Figures, type Report } from "./data";
import { h, tableOf } from "./dom";
import * as format from "./format";
import { forecastRole, pagePaint } from "./theme";

interface Score {
  name: string;
  meaning: string;
  text: (scores: Figures) => string;
}

const part = (value: number | null): number | null => (value == null ? null : value / 100);

const offSupport: Score = {
  name: "Rows off support",
  meaning: "share of rows with an input outside the range that the model was fitted on; sigma cannot be trusted there",
  text: (s) => format.percent(part(s.off_support_percent ?? null), 2),
};

/** Of a quantile forecast it is known at its levels alone: twice the mean quantile score. */
const crpsText = (scores: Figures): string =>
  `${format.number(scores.crps)}${scores.crps_is_approximate ? ` (at ${format.count(scores.quantile_scores?.length ?? 0, "level")})` : ""}`;

const general: Score[] = [
  { name: "Rows", meaning: "rows that were scored", text: (s) => format.integer(s.rows) },
  { name: "Effective rows", meaning: "as many independent rows of equal weight would tell as much; fewer where weights differ, or where groups or neighbours were found to err together", text: (s) => format.integer(s.effective_rows) },
  { name: "CRPS", meaning: "accuracy of the whole distribution, in the unit of the observation; lower is better", text: crpsText },
  { name: "Skill", meaning: "how much of the CRPS of the best constant sigma is saved; above 0, sigma that follows the row pays", text: (s) => format.signed(s.crps_skill, 2) },
  { name: "Best constant sigma", meaning: "the one of least CRPS on these rows", text: (s) => format.number(s.constant_sigma) },
  { name: "NLPD", meaning: "mean negative log density at the observations; lower is better", text: (s) => format.number(s.nlpd) },
  { name: "Calibration error", meaning: "largest distance of the reliability diagram from its diagonal", text: (s) => format.percent(part(s.calibration_error_percent), 2) },
  { name: "Calibration floor", meaning: "what a calibrated forecast of as many effective rows shows", text: (s) => format.percent(part(s.calibration_floor_percent), 2) },
  { name: "Calibration p-value", meaning: "how often chance alone shows at least this error in as many effective rows; where groups or neighbours were found to err together, that is counted", text: (s) => format.pValue(s.calibration_p_value) },
  { name: "Sign bound", meaning: "no symmetric forecast around these predictions has a smaller calibration error", text: (s) => format.percent(part(s.sign_bound_percent), 2) },
  { name: "Reliability score", meaning: "mean squared distance from perfect reliability; lower is better", text: (s) => format.number(s.rs) },
  { name: "Reliability floor", meaning: "what a calibrated forecast of as many effective rows shows on average", text: (s) => format.number(s.rs_floor) },
  { name: "AR", meaning: "accuracy and reliability in one cost", text: (s) => format.number(s.ar) },
  { name: "Balance beta", meaning: "share of accuracy in AR with which the two weigh alike on these rows", text: (s) => format.number(s.beta) },
  { name: "Mean of z", meaning: "z is error/sigma where the forecast is Gaussian, else the normal score of the PIT; 0 is right, above it observations lie above the predictions", text: (s) => format.number(s.mean_z, 3) },
  { name: "Median of z", meaning: "0 is right; where it is far from the mean the errors are skewed", text: (s) => format.number(s.z_quantiles[2], 3) },
  { name: "Sd of z", meaning: "1 is right, above it overconfident or heavy tails, below it underconfident", text: (s) => format.number(s.sd_z, 3) },
  { name: "Sharpness", meaning: "root mean square sigma", text: (s) => format.number(s.sharpness) },
  { name: "RMSE", meaning: "root mean square error; equals the sharpness when sigma is right on average", text: (s) => format.number(s.rmse) },
];

/** Levels that any forecast was asked about. */
const levels = (entries: Entry[]): number[] => [...new Set(entries.flatMap(({ scores }) => scores.coverage.map((c) => c.level)))];

export const levelText = (level: number): string => format.percent(level, Number((100 * level).toFixed(6)) % 1 ? 1 : 0);

export const coverageOf = (scores: Figures, level: number) => scores.coverage.find((c) => c.level === level);

const coverage = (entries: Entry[]): Score[] =>
  levels(entries).flatMap((level) => [
    { name: `${levelText(level)} interval coverage`, meaning: `share of observations inside it; ${levelText(level)} is right`, text: (s) => format.percent(coverageOf(s, level)?.observed, 2) },
    { name: `${levelText(level)} interval: width`, meaning: "mean width; narrower is better where the coverage is right", text: (s) => format.number(coverageOf(s, level)?.mean_width) },
    { name: `${levelText(level)} interval: score`, meaning: "width, and a penalty for each observation outside; lower is better", text: (s) => format.number(coverageOf(s, level)?.interval_score) },
  ]);

const asked = (entries: Entry[]): Score[] => {
  const any = (holds: (scores: Figures) => unknown) => entries.some(({ scores }) => holds(scores));
  const levels = [...new Set(entries.flatMap(({ scores }) => (scores.quantile_scores ?? []).map((q) => q.level)))].sort((a, b) => a - b);
  const thresholds = [...new Set(entries.flatMap(({ scores }) => (scores.exceed ?? []).map((e) => e.threshold)))];
  const parts: Score[] = [
    { name: "Miscalibration", meaning: "part of the CRPS that is lost because probabilities do not come true; lower is better", text: (s) => format.number(s.crps_parts?.miscalibration) },
    { name: "Miscalibration floor", meaning: "what a calibrated forecast of as many rows shows", text: (s) => format.number(s.crps_parts?.miscalibration_floor) },
    { name: "Discrimination", meaning: "part of the CRPS of the climatology that telling rows apart saves; higher is better", text: (s) => format.number(s.crps_parts?.discrimination) },
    { name: "Uncertainty", meaning: "CRPS of the climatology of these rows: CRPS = miscalibration - discrimination + uncertainty", text: (s) => format.number(s.crps_parts?.uncertainty) },
  ];
  return [
    ...(any((s) => s.fair_crps != null)
      ? [{ name: "Fair CRPS", meaning: "of an ensemble: what its CRPS would be with endless members", text: (s: Figures) => format.number(s.fair_crps) }]
      : []),
    ...(any((s) => s.crps_parts) ? parts : []),
    ...levels.flatMap((level): Score[] => {
      const of = (s: Figures) => s.quantile_scores?.find((q) => q.level === level);
      return [
        { name: `Quantile score at ${levelText(level)}`, meaning: "mean quantile (pinball) score of this level; lower is better", text: (s) => format.number(of(s)?.score) },
        { name: `At or below the ${levelText(level)} quantile`, meaning: `share of observations; ${levelText(level)} is right`, text: (s) => format.percent(of(s)?.at_or_below, 2) },
      ];
    }),
    ...thresholds.flatMap((threshold): Score[] => {
      const of = (s: Figures) => s.exceed?.find((e) => e.threshold === threshold);
      const above = `above ${format.number(threshold)}`;
      return [
        { name: `Brier score, ${above}`, meaning: `mean squared error of the probability of observations ${above}; lower is better`, text: (s) => format.number(of(s)?.brier.score) },
        { name: `CRPS ${above}`, meaning: "the CRPS counted from the threshold on; lower is better", text: (s) => format.number(of(s)?.threshold_weighted_crps) },
        { name: `Happened, ${above}`, meaning: "share of the observations", text: (s) => format.percent(of(s)?.observed, 2) },
        { name: `Expected, ${above}`, meaning: "mean probability that the forecast gave", text: (s) => format.percent(of(s)?.forecast, 2) },
      ];
    }),
  ];
};

/** Figures that have a column: of all rows of a forecast, and beside them of its rows off support. */
const columnsOf = ({ entries, several }: Report): { name: string; figures: Figures }[] =>
  entries.flatMap(({ name, scores }) => [
    { name: several ? name : "Value", figures: scores },
    ...(scores.off_support ? [{ name: several ? `${name}, off support` : "Off support", figures: scores.off_support }] : []),
  ]);

export const hasOffSupport = ({ entries }: Report): boolean => entries.some(({ scores }) => scores.off_support);

export function scoreTable(report: Report): HTMLElement {
  const { entries } = report;
  const columns = columnsOf(report);
  const models = entries.some((entry) => entry.scores.off_support_percent != null);
  const scores = [...general, ...coverage(entries), ...asked(entries), ...(models ? [offSupport] : [])];
  return tableOf(
    "All scores",
    ["Score", ...columns.map(({ name }) => name), "Meaning"],
    scores.map((score) => [
      score.name,
      ...columns.map(({ figures }) => score.text(figures)),
      h("span", { class: "meaning" }, score.meaning),
    ]),
  );
}

/** The figures that matter, one forecast per row. */
export function shortTable({ entries }: Report, level: number | undefined): HTMLElement {
  return tableOf(
    "The forecasts beside each other",
    ["Forecast", "CRPS", "Skill", "Calibration error", "Floor", ...(level ? [`${levelText(level)} coverage`, "Width"] : [])],
    entries.map((entry) => [
      swatched(entry),
      crpsText(entry.scores),
      format.signed(entry.scores.crps_skill),
      format.percent(part(entry.scores.calibration_error_percent)),
      format.percent(part(entry.scores.calibration_floor_percent)),
      ...(level
        ? [format.percent(coverageOf(entry.scores, level)?.observed), format.number(coverageOf(entry.scores, level)?.mean_width)]
        : []),
    ]),
  );
}

function swatched(entry: Entry): HTMLElement {
  const swatch = h("span", { class: "swatch dot circle", "aria-hidden": "true" });
  swatch.style.setProperty("--colour", pagePaint(forecastRole(entry.index)));
  return h("span", { class: "swatched" }, swatch, entry.name);
}

const better = ({ difference, low, high, clear }: Difference, { first, second }: Comparison): string => {
  if (difference == null || low == null || high == null) return format.missing;
  if (!clear) return "cannot be told";
  return difference < 0 ? second : first;
};

export function comparisonTable({ comparison: list }: Report): HTMLElement {
  const row = (comparison: Comparison, score: string, difference: Difference) => [
    `${comparison.second} less ${comparison.first}`,
    score,
    format.number(difference.difference, 3),
    difference.low == null ? format.missing : format.range(format.number(difference.low, 3), format.number(difference.high, 3)),
    format.pValue(difference.p_value),
    better(difference, comparison),
  ];
  return tableOf(
    "Paired differences",
    ["Forecasts", "Score", "Difference", "90% interval", "p-value", "Better"],
    list.flatMap((comparison) => [
      ...(comparison.quantile_score
        ? [row(comparison, `Quantile score at ${comparison.quantile_score.levels.map(levelText).join(", ")}`, comparison.quantile_score)]
        : [row(comparison, "CRPS", comparison.crps), row(comparison, "NLPD", comparison.nlpd)]),
    ]),
  );
}

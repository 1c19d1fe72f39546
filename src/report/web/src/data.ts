// The object that a report is drawn from: docs/report-data.md, and docs/evaluate.md for the scores. Undefined numbers are null.

export type Value = number | null;

export interface Band {
  low: Value[];
  high: Value[];
}

export interface Coverage {
  level: number;
  observed: Value;
  mean_width: Value;
  interval_score: Value;
}

/** Figures of all rows, or of those with one value of a column. */
export interface Figures {
  name?: string;
  rows: number;
  dropped?: number;
  effective_rows: Value;
  recalibrated: boolean;
  crps: Value;
  crps_skill: Value;
  constant_sigma: Value;
  nlpd: Value;
  rs: Value;
  rs_floor: Value;
  ar: Value;
  beta: Value;
  calibration_error_percent: Value;
  calibration_floor_percent: Value;
  calibration_p_value: Value;
  sign_bound_percent: Value;
  mean_z: Value;
  sd_z: Value;
  z_quantiles: Value[]; // 5%, 25%, 50%, 75%, 95%
  sharpness: Value;
  rmse: Value;
  off_support_percent?: Value; // of models
  off_support?: Figures; // of these rows alone, where there are some
  coverage: Coverage[];
  // Of ensembles, of quantile forecasts, and where they were asked for.
  fair_crps?: Value;
  crps_is_approximate?: boolean;
  crps_parts?: { miscalibration: Value; discrimination: Value; uncertainty: Value; miscalibration_floor: Value };
  quantile_scores?: QuantileScore[];
  exceed?: Exceedance[];
}

/** The quantile of one level: its score, and how often observations lie below it. */
export interface QuantileScore {
  level: number;
  score: Value;
  below: number;
  at_or_below: number;
  low: number; // between these lies such a share with probability 90% where the level is right
  high: number;
}

/** Observations above a threshold, and their probabilities. */
export interface Exceedance {
  threshold: number;
  observed: Value;
  forecast: Value;
  threshold_weighted_crps: Value;
  brier: { score: Value; miscalibration: Value; discrimination: Value; uncertainty: Value };
  reliability: { probability: number[]; observed: Value[]; band_90_pointwise: Band };
}

export interface Verdict {
  summary: string;
  remarks: string[];
}

export interface Scores extends Figures {
  kind?: "members" | "quantiles" | "baseline"; // of what is not a model or a sigma
  members?: number;
  rank_histogram?: { share: number[]; low: number; high: number };
  reliability_diagram?: {
    probability: number[];
    observed: Value[];
    band_90_pointwise?: Band;
    band_90_simultaneous?: Band;
    group_band_90_pointwise?: Band;
    group_band_90_simultaneous?: Band;
  };
  verdict: Verdict;
  by: { column: string; values: Figures[] }[];
}

interface AnyBins {
  low: number[];
  high: number[];
  x: number[];
  rows: number[];
}

export interface ErrorBins extends AnyBins {
  sigma: Value[];
  q05: Value[];
  q50: Value[];
  q95: Value[];
  observed_q05: Value[];
  observed_q05_low: Value[];
  observed_q05_high: Value[];
  observed_q50: Value[];
  observed_q50_low: Value[];
  observed_q50_high: Value[];
  observed_q95: Value[];
  observed_q95_low: Value[];
  observed_q95_high: Value[];
  width: Value[];
  observed_width: Value[];
  observed_width_low: Value[];
  observed_width_high: Value[];
}

export interface FanBins extends AnyBins {
  q05: Value[];
  q25: Value[];
  q50: Value[];
  q75: Value[];
  q95: Value[];
  observed_q05: Value[];
  observed_q25: Value[];
  observed_q50: Value[];
  observed_q75: Value[];
  observed_q95: Value[];
}

export interface Rows {
  mean: number[];
  sigma: number[];
  q05: number[];
  q25: number[];
  q75: number[];
  q95: number[];
  observation: number[];
  time?: number[];
}

export interface Start {
  fold: number;
  start: number;
  form?: string;
  iterations: number;
  reason: string;
  validation_cost: Value;
  skill: Value;
  kept: boolean;
  dropped_because?: string;
  training_curve: Value[];
  validation_curve: Value[];
}

/** A row with its whole distribution: mean densities in equal cells. */
export interface Density {
  row: number;
  time?: number;
  mean: Value;
  median: Value;
  sigma: Value;
  observation: Value;
  below: Value;
  from: number;
  to: number;
  density: Value[];
}

/** One of several that a fit chose between: families and locations, or ways to learn a mean. */
export interface Candidate {
  description: string;
  crps: Value;
  compared_with?: number; // of the candidates
  difference?: Value;
  low?: Value;
  high?: Value;
  taken: boolean;
}

/** What a fit with another balance gave on held-out rows, with standard errors; differences are to the balance of the model. */
export interface Balance {
  balance: number;
  crps: Value;
  crps_se: Value;
  rs: Value;
  rs_se: Value;
  calibration_error_percent: Value;
  calibration_error_se_percent: Value;
  crps_difference: Value;
  crps_difference_se: Value;
  rs_difference: Value;
  rs_difference_se: Value;
  taken: boolean; // the model has it
}

/** How far the forecast moves where an input is permuted among rows. */
export interface Importance {
  input: string;
  location: Value; // in sigmas
  scale: Value; // its logarithm
  shape: Value; // further parameters of the family
}

/** Places of one column: bins of numbers, which then have x, or values. An element for every place. */
export interface ConditionalColumn {
  name: string;
  role: "input" | "prediction" | "group" | "time";
  all_places: number; // of which these are furthest off
  label: string[];
  rows: number[];
  low?: number[];
  high?: number[];
  x?: number[];
  mean_z: Value[];
  sd_z: Value[];
  coverage: Value[];
  calibration_error: Value[];
  calibration_floor: Value[];
  off: Value[]; // above 1: further than chance would have it
  calibration_off: Value[]; // the same of the calibration alone
  mean_z_low: Value[];
  mean_z_high: Value[];
  mean_z_pointwise_low: Value[];
  mean_z_pointwise_high: Value[];
  sd_z_low: Value[];
  sd_z_high: Value[];
  sd_z_pointwise_low: Value[];
  sd_z_pointwise_high: Value[];
  coverage_low: Value[];
  coverage_high: Value[];
  coverage_pointwise_low: Value[];
  coverage_pointwise_high: Value[];
}

export interface Conditional {
  passes: boolean;
  tests: number; // 0: no place has rows enough to tell
  worst: string; // empty where it passes
  error_rate: number;
  mean_z: Value;
  sd_z: Value;
  coverage: Value;
  all_columns: number;
  columns: ConditionalColumn[];
}

/** A replay, period by period. */
export interface ThroughTime {
  time_unit: "number" | "seconds";
  level: number;
  from: number[];
  to: number[];
  forecasts: { name: string; rows: number[]; crps: Value[]; calibration_error: Value[]; calibration_floor: Value[]; coverage: Value[] }[];
}

export interface Monitor {
  time_unit: "number" | "seconds";
  alarm: boolean;
  alarm_time: number | null;
  threshold: number;
  off_support: Value;
  steps: number;
  times: number[];
  evidence: Value[];
}

export interface Forecast {
  name: string;
  pit: { edges: number[]; share: number[]; low: Value; high: Value } | null; // one range for all bars
  rows: Rows | null;
  along_prediction: FanBins | null;
  along_time: ErrorBins | null;
  time_unit?: "number" | "seconds";
  inputs: { name: string; bins: ErrorBins }[];
  spread_skill: ErrorBins | null;
  densities?: Density[];
  conditional: Conditional | null;
  fit: {
    starts: Start[];
    iteration_step: number; // the curves have a number for every so many iterations
    candidates?: Candidate[];
    means?: Candidate[];
    choice?: string;
    importance?: Importance[];
    balance_front?: Balance[];
  } | null;
  model: { accrue: string; configuration: Record<string, unknown>; columns: Record<string, unknown> } | null;
}

export interface Difference {
  difference: Value;
  low: Value;
  high: Value;
  p_value: Value;
  clear: boolean; // zero lies outside the interval
}

export interface Comparison {
  first: string;
  second: string;
  crps: Difference;
  nlpd: Difference;
  quantile_score?: Difference & { levels: number[] }; // where one is a quantile forecast
  independent: string;
}

export interface ReportData {
  format: number;
  accrue: string;
  title: string;
  subtitle: string;
  kind: "rows" | "out of fold" | "test rows" | "replay" | "monitor";
  command: string;
  files: string[];
  columns: Partial<Record<"prediction" | "observation" | "error" | "weight" | "group" | "fold_group" | "time" | "observation_error" | "recalibrate_group", string>>;
  verdict: Verdict;
  scores: Scores | { forecasts: Scores[]; comparison: Comparison[]; lowest_crps: { name: string; sentence: string } };
  forecasts: Forecast[];
  through_time?: ThroughTime;
  monitor?: Monitor;
  notes: string[];
}

/** A forecast's drawings and scores together, with its place, which decides on its colour. */
export interface Entry {
  index: number;
  name: string;
  label: string; // of a file only what comes after its folders, where that tells the forecasts apart
  forecast: Forecast;
  scores: Scores;
}

export interface Report {
  data: ReportData;
  entries: Entry[];
  /** More than one forecast: charts then name them. */
  several: boolean;
  comparison: Comparison[]; // of every later forecast and the first
  lowest: string | null; // which has the lowest CRPS, and whether that is clear
}

export function readReport(text: string): Report {
  const data = JSON.parse(text) as ReportData;
  if (data.format !== 2) throw new Error(`This page draws reports of format 2; these data have format ${data.format}.`);
  const together = "forecasts" in data.scores ? data.scores : null;
  const scores = together?.forecasts ?? [data.scores as Scores];
  const bases = data.forecasts.map(({ name }) => name.slice(name.lastIndexOf("/") + 1) || name);
  const distinct = new Set(bases).size === bases.length;
  const entries = data.forecasts.flatMap((forecast, index) => {
    const own = scores[index];
    const label = distinct ? bases[index]! : forecast.name;
    // What is undefined of a quantile forecast or a baseline is not among its scores.
    return own ? [{ index, name: forecast.name, label, forecast, scores: { ...own, by: own.by ?? [], coverage: own.coverage ?? [], z_quantiles: own.z_quantiles ?? [] } }] : [];
  });
  return {
    data,
    entries,
    several: entries.length > 1,
    comparison: together?.comparison ?? [],
    lowest: together?.lowest_crps.sentence ?? null,
  };
}

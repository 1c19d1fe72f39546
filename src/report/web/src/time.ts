// Ticks of a time axis, in milliseconds since 1970, at the beginnings of years, months, days, hours, minutes or seconds (UTC).

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const month = 30.5 * day;

// Every so many months, from years down; then even steps.
const months = [12_000, 6_000, 2_400, 1_200, 600, 240, 120, 60, 24, 12, 6, 3, 1];
const even = [7, 2, 1].map((n) => n * day).concat(
  [12, 6, 3, 1].map((n) => n * hour),
  [30, 10, 5, 1].map((n) => n * minute),
  [30, 10, 5, 1].map((n) => n * second),
);

/** At most `most` of them, if that is at least two or so. */
export function timeTicks(from: number, to: number, most: number): number[] {
  const fits = (step: number) => (to - from) / step <= most;
  const steps = [...months.map((n) => n * month), ...even];
  const step = steps.filter(fits).at(-1) ?? steps[0]!;
  const ticks: number[] = [];
  if (step >= month) {
    const every = Math.round(step / month);
    const start = new Date(from);
    const first = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / every) * every;
    const beginning = (m: number) => new Date(0).setUTCFullYear(Math.floor(m / 12), ((m % 12) + 12) % 12, 1);
    for (let m = first; beginning(m) <= to; m += every) ticks.push(beginning(m));
  } else {
    const origin = step === 7 * day ? 4 * day : 0; // weeks begin on Mondays
    for (let t = origin + Math.ceil((from - origin) / step) * step; t <= to; t += step) ticks.push(t);
  }
  return ticks.filter((t) => t >= from && t <= to);
}

// Numbers to text. A figure that is undefined is a dash, never "null" or "NaN".

export const missing = "–";
const minus = (text: string) => text.replaceAll("-", "−");
const defined = (value: number | null | undefined): value is number => value != null && Number.isFinite(value);

/** Significant digits, thousands apart; powers of ten for what is very large or small. */
export function number(value: number | null | undefined, digits = 4): string {
  if (!defined(value)) return missing;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) {
    const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 1)).split("e");
    return minus(`${Number(mantissa)}e${Number(exponent)}`);
  }
  return minus(
    value.toLocaleString("en-US", { maximumSignificantDigits: size >= 10 ** digits ? Math.floor(Math.log10(size)) + 1 : digits }),
  );
}

/** A number as short as it can be without loss of what an axis needs. */
export const tick = (value: number): string => number(Number(value.toPrecision(10)), 6);

export const integer = (value: number | null | undefined): string =>
  defined(value) ? minus(Math.round(value).toLocaleString("en-US")) : missing;

/** A share as a percentage. */
export const percent = (share: number | null | undefined, decimals = 1): string =>
  defined(share) ? minus(`${(100 * share).toFixed(decimals)}%`) : missing;

/** A share on an axis: decimals only where they are needed. */
export const shareTick = (share: number): string => percent(share, Math.abs(share * 100 - Math.round(share * 100)) > 1e-6 ? 1 : 0);

export const signed = (share: number | null | undefined, decimals = 1): string =>
  defined(share) && share > 0 ? `+${percent(share, decimals)}` : percent(share, decimals);

export function pValue(value: number | null | undefined): string {
  if (!defined(value)) return missing;
  return value < 0.001 ? "< 0.001" : number(value, 2);
}

/** Seconds since 1970 as an ISO 8601 time, without the parts that are zero. */
export function isoTime(seconds: number | null | undefined): string {
  if (!defined(seconds) || Math.abs(seconds) > 8.64e12) return number(seconds);
  const text = new Date(seconds * 1000).toISOString();
  return text.replace("T00:00:00.000Z", "").replace(/(:00)?\.000Z$/, "Z");
}

/** A name that is an ISO 8601 time without what is zero and what goes without saying; others as they are. */
export const shortTime = (name: string): string =>
  name
    .replace(/^(\d{4,}-\d\d-\d\d)[T ]00:00(:00(\.0+)?)?Z?$/, "$1")
    .replace(/^(\d{4,}-\d\d-\d\d)[T ](\d\d:\d\d)(:00(\.0+)?)?Z?$/, "$1 $2");

/** A tick of a time axis: the year, month, day or time of day that begins there. */
export function timeTick(milliseconds: number): string {
  const text = new Date(milliseconds).toISOString();
  const [year, month, day] = [text.slice(0, -20), text.slice(-19, -17), text.slice(-16, -14)];
  const time = text.slice(-13, -5);
  if (time !== "00:00:00") return time.replace(/:00$/, "");
  if (day !== "01") return `${month}-${day}`;
  return month === "01" ? year : `${year}-${month}`;
}

export const range = (low: string, high: string): string => `${low} to ${high}`;

export const shorten = (text: string, most: number): string => {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
};

/** "one row", "2 rows" */
export const count = (n: number, noun: string): string => (n === 1 ? `one ${noun}` : `${integer(n)} ${noun}s`);

/** The chart engine keeps texts as keys of plain objects, where __proto__ and its like mean something else. */
export const harmless = (text: string): string => (text in {} ? `${text}\u200b` : text);

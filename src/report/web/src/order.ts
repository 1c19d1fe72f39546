// The order of names on an axis: numbers as numbers, times as times, all others by trouble.

const isoTime = /^[+-]?\d{4,6}-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d+)?)?)?Z?)?)?$/;

const numberOf = (name: string): number => (name.trim() === "" ? NaN : Number(name));

function timeOf(name: string): number {
  const time = name.replace(/^from /, "");
  if (!isoTime.test(time)) return NaN;
  return Date.parse(/[T ]/.test(time) && !time.endsWith("Z") ? `${time.replace(" ", "T")}Z` : time.replace(" ", "T"));
}

/** A number for every name where all of them are numbers, or all are times; else null. */
export function naturalKeys(names: string[]): number[] | null {
  for (const key of [numberOf, timeOf]) {
    const keys = names.map(key);
    if (keys.length > 0 && keys.every(Number.isFinite)) return keys;
  }
  return null;
}

/** Places of the names in the order in which they are shown. */
export function inOrder(names: string[], trouble: number[]): number[] {
  const keys = naturalKeys(names);
  const places = names.map((_, i) => i);
  return keys ? places.sort((a, b) => keys[a]! - keys[b]!) : places.sort((a, b) => trouble[b]! - trouble[a]!);
}

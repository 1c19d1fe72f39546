// A page of sections whose charts and tables come described (docs/report-data.md, "A document"): the paper beside ours.
import type { Chart } from "./chart";

export interface Statement {
  who: string;
  text: string;
}

export interface Table {
  title: string;
  head: string[];
  rows: string[][];
  note?: string;
}

export interface DocumentSection {
  id: string;
  title: string;
  statements: Statement[];
  charts: Chart[];
  tables: Table[];
}

export interface DocumentData {
  accrue: string;
  title: string;
  subtitle: string;
  command: string;
  sections: DocumentSection[];
}

/** The document in a file's data, or null where it holds a report. */
export function readDocument(text: string): DocumentData | null {
  const data: unknown = JSON.parse(text);
  return typeof data === "object" && data !== null && "sections" in data ? (data as DocumentData) : null;
}

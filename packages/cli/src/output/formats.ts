import { usage } from "../exit.ts";
import { type Column, cell } from "./columns.ts";
import { evaluatePath, parsePath } from "./jsonpath.ts";
import { oneLine } from "./terminal.ts";

/** Writes objects as they come, in one of the formats; `end` is called once behind the last. */
export interface Writer {
  row(row: unknown): string;
  /** Ends a page, so that a table can be aligned without holding the list. */
  page?(): string;
  end(): string;
}

export interface FormatOptions {
  readonly format: string;
  readonly columns: readonly Column[];
  /** The member by which `-o name` names an object. */
  readonly name: Column;
  /** A single object is no array of one. */
  readonly single: boolean;
  readonly terminal: { readonly width: number } | undefined;
}

/** Makes the writer of `-o`; an unknown format is a wrong usage. */
export async function writerOf(options: FormatOptions): Promise<Writer> {
  const { format, columns, name, single } = options;
  const narrow = columns.filter(({ wide }) => wide !== true);
  if (format === "table") return single ? vertical(columns) : options.terminal ? aligned(narrow, options.terminal.width) : plain(narrow);
  if (format === "wide") return options.terminal ? aligned(columns, Number.POSITIVE_INFINITY) : plain(columns);
  if (format === "json") return single ? lines((row) => JSON.stringify(row, undefined, 2)) : jsonArray();
  if (format === "jsonl") return lines((row) => JSON.stringify(row));
  if (format === "csv") return csv(columns);
  if (format === "name") return lines((row) => cell(row, name));
  if (format === "yaml") {
    const { stringify } = await import("yaml");
    return single ? lines((row) => stringify(row).trimEnd()) : { row: (row) => stringify([row]), end: () => "" };
  }
  if (format.startsWith("jsonpath=")) {
    const path = parsePath(format.slice("jsonpath=".length));
    return lines((row) =>
      evaluatePath(path, row)
        .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
        .join(" "),
    );
  }
  throw usage(`there is no output ${format}: table, wide, json, jsonl, yaml, csv, name or jsonpath={.member}`);
}

function lines(text: (row: unknown) => string): Writer {
  return { row: (row) => `${text(row)}\n`, end: () => "" };
}

function jsonArray(): Writer {
  let count = 0;
  return { row: (row) => `${count++ === 0 ? "[\n" : ",\n"}  ${JSON.stringify(row)}`, end: () => (count === 0 ? "[]\n" : "\n]\n") };
}

/** The head is written for an empty list too, so that a script finds its columns. */
function plain(columns: readonly Column[]): Writer {
  let headed = false;
  const head = () => {
    if (headed) return "";
    headed = true;
    return `${columns.map((column) => column.head).join("\t")}\n`;
  };
  return { row: (row) => `${head()}${columns.map((column) => oneLine(cell(row, column))).join("\t")}\n`, end: head };
}

/** Aligns page by page, so that a list of any length needs the memory of one page; a column never becomes narrower. */
function aligned(columns: readonly Column[], width: number): Writer {
  let held: string[][] = [];
  const widths = columns.map(({ head }) => head.length);
  let headed = false;
  const page = () => {
    for (const cells of held) for (const [n, text] of cells.entries()) widths[n] = Math.max(widths[n] ?? 0, text.length);
    const all = headed || held.length === 0 ? held : [columns.map(({ head }) => head), ...held];
    headed ||= held.length > 0;
    held = [];
    return all
      .map(
        (cells) =>
          `${cut(
            cells
              .map((text, n) => text.padEnd(widths[n] ?? 0))
              .join("  ")
              .trimEnd(),
            width,
          )}\n`,
      )
      .join("");
  };
  return {
    row(row) {
      held.push(columns.map((column) => oneLine(cell(row, column))));
      return "";
    },
    page,
    end: page,
  };
}

/** Cuts a line to the terminal. */
export function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`;
}

function vertical(columns: readonly Column[]): Writer {
  const width = Math.max(...columns.map(({ head }) => head.length));
  return lines((row) =>
    columns
      .map((column) => [column.head, oneLine(cell(row, column))] as const)
      .filter(([, text]) => text !== "")
      .map(([head, text]) => `${head.padEnd(width)}  ${text}`)
      .join("\n"),
  );
}

/** RFC 4180, with line feeds. Cells that a spreadsheet would run are escaped as in the server's own exports. */
function csv(columns: readonly Column[]): Writer {
  const quoted = (text: string) => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const headOf = ({ at, head }: Column) => (typeof at === "string" ? at : head.toLowerCase().replaceAll(" ", "_"));
  let headed = false;
  const heads = () => {
    if (headed) return "";
    headed = true;
    return `${columns.map(headOf).join(",")}\n`;
  };
  return { row: (row) => `${heads()}${columns.map((column) => quoted(cell(row, column))).join(",")}\n`, end: heads };
}

import { tracer } from "@harrier/tracing";
import type pg from "pg";

/** Composed queries have no name, so the beginning of their text is shown; values are parameters and never in it. */
const maxText = 2_000;

/** Runs a statement as a span of the request that it belongs to, if that is traced. */
export async function traceStatement<Result extends { rowCount: number | null }>(
  { name, text }: pg.QueryConfig,
  work: () => Promise<Result>,
): Promise<Result> {
  const span = tracer?.child(name ?? firstWord(text), {
    "db.system.name": "postgresql",
    ...(name === undefined ? { "db.query.text": text.slice(0, maxText) } : { "db.query.summary": name }),
  });
  if (span === undefined) return work();
  try {
    const result = await work();
    span.end(result.rowCount === null ? undefined : { "db.response.returned_rows": result.rowCount });
    return result;
  } catch (error) {
    span.end(undefined, codeOf(error));
    throw error;
  }
}

function firstWord(text: string): string {
  return /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? "statement";
}

/** Answers the code of a database error or of ours; texts of errors may hold values. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "error";
}

import { ApiError, NetworkError } from "@harrier/client";

/** The exit codes (contract console.md §5). */
export const exit = {
  done: 0,
  failed: 1,
  stopped: 2,
  waiting: 3,
  signIn: 4,
  notFound: 5,
  conflict: 6,
  differences: 7,
  limit: 8,
  usage: 64,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** Ends the program with this code; an empty message says nothing. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const usage = (message: string): ExitError => new ExitError(exit.usage, message);

/** Says which exit code an error means. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof ExitError) return error.exitCode;
  if (error instanceof NetworkError) return exit.failed;
  if (!(error instanceof ApiError)) return isInterruption(error) ? exit.interrupted : exit.failed;
  const { status, code } = error;
  if (status === 429 || code === "quotaTooManyEntries" || code === "fileSizeExceeded" || code === "storageExceeded") return exit.limit;
  if (status === 401 || status === 403) return exit.signIn;
  if (status === 404) return exit.notFound;
  return status === 409 || status === 412 ? exit.conflict : exit.failed;
}

function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** The line that tells of an error; the second element is the body of the answer, for `-o json`. */
export function describeError(error: unknown): [line: string, body?: unknown] {
  if (!(error instanceof ApiError)) return [error instanceof Error ? error.message : String(error)];
  const details = [error.code ?? String(error.status), ...(error.requestId === undefined ? [] : [`request ${error.requestId}`])];
  const lacking = error.body.info?.["permissions"];
  const needs = error.status === 403 && Array.isArray(lacking) ? `, needs ${lacking.join(" and ")}` : "";
  return [`${error.message.replace(/\.$/, "")}${needs} (${details.join(", ")})`, { status: error.status, ...error.body }];
}

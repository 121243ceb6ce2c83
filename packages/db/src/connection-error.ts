import { HarrierError } from "@harrier/errors";

// these are Node's socket errors
const networkCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EHOSTUNREACH", "EAI_AGAIN"]);
// PostgreSQL's classes 08 (connection), 53 (no disk, memory or connection left; not 53400, which a retry does not help) and 57P0x (shutting down,
// starting up)
const serverCodes = /^(08...|53[0-3]00|57P0[1-4])$/;
const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout)/;

/** Whether the driver gave up waiting for an answer: the connection is of no further use. */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** Whether the database could not be reached or had no resources left, as opposed to a database that refused a statement. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && (networkCodes.has(code) || serverCodes.test(code))) return true;
  // the driver's own errors have no code
  return driverMessages.test(error.message);
}

// a statement took too long, a lock was not free in time, or a transaction was idle for too long
const limitCodes = new Map([
  ["57014", "The database took too long to answer."],
  ["55P03", "What is to be changed is being changed by somebody else."],
  ["25P03", "The database took too long to answer."],
]);

/** A client that retries within a second would meet the same load. */
const comeAgain = { headers: { "retry-after": "2" } };

/**
 * Makes `unavailable`, which a caller may retry, of a database that cannot be reached or of a limit that it enforces for us. Everything else passes
 * unchanged.
 */
export function mapConnectionError(error: unknown): unknown {
  if (isConnectionError(error)) return new HarrierError("unavailable", "The database is not available.", { cause: error });
  const limit = error instanceof Error ? limitCodes.get((error as { code?: string }).code ?? "") : undefined;
  return limit === undefined ? error : new HarrierError("unavailable", limit, { ...comeAgain, cause: error });
}

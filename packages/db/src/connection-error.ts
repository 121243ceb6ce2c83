import { HarrierError } from "@harrier/errors";

// Node's socket errors
const networkCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EHOSTUNREACH", "EAI_AGAIN"]);
// PostgreSQL's classes 08 (connection), 53 (no disk, memory or connection left; not 53400, which coming again does not help), 57P0x
// (shutting down, starting up)
const serverCodes = /^(08...|53[0-3]00|57P0[1-4])$/;
const driverMessages = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** True where the database could not be asked or had no room to work, in contrast to a database that refused what it was asked. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && (networkCodes.has(code) || serverCodes.test(code))) return true;
  // the driver's own errors carry no code
  return driverMessages.test(error.message);
}

// a statement that took too long, a lock that did not come free in time, a transaction that said nothing for too long
const limitCodes = new Map([
  ["57014", "The database took too long to answer."],
  ["55P03", "What is to be changed is being changed by somebody else."],
  ["25P03", "The database took too long to answer."],
]);

/** A client that comes again within a second finds the same crowd. */
const comeAgain = { headers: { "retry-after": "2" } };

/**
 * A database that cannot be asked, or that has met one of the limits that it keeps for us, is `unavailable` to a caller, who may come again;
 * everything else passes unchanged.
 */
export function mapConnectionError(error: unknown): unknown {
  if (isConnectionError(error)) return new HarrierError("unavailable", "The database is not available.", { cause: error });
  const limit = error instanceof Error ? limitCodes.get((error as { code?: string }).code ?? "") : undefined;
  return limit === undefined ? error : new HarrierError("unavailable", limit, { ...comeAgain, cause: error });
}

import { HarrierError } from "@harrier/errors";

// Node's socket errors, and PostgreSQL's classes 08 (connection), 53300 (too many), 57P0x (shutting down, starting up)
const networkCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EHOSTUNREACH", "EAI_AGAIN"]);
const driverMessages = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** True where the database could not be asked, in contrast to a database that answered with an error. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && (networkCodes.has(code) || /^(08...|53300|57P0[1-4])$/.test(code))) return true;
  // the driver's own errors carry no code
  return driverMessages.test(error.message);
}

/** A database that cannot be asked is `unavailable` to a caller, who may come again; everything else passes unchanged. */
export function mapConnectionError(error: unknown): unknown {
  return isConnectionError(error) ? new HarrierError("unavailable", "The database cannot be reached.", { cause: error }) : error;
}

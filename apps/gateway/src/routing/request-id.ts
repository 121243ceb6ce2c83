import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const validRequestId = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the id that the client gave its request, else a new one. */
export function requestId(req: IncomingMessage): string {
  const given = req.headers["x-request-id"];
  return typeof given === "string" && validRequestId.test(given) ? given : randomUUID();
}

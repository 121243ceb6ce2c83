import type { IncomingMessage, ServerResponse } from "node:http";
import type { Surface } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { sendError } from "@harrier/service";

/** What a client is told that has not signed in (spec 000 §5.5, contract management.md §1.1). */
const challenge: Record<Surface, string> = { device: "ApiKey", spec: 'Basic realm="hawkBit"', rest: 'Basic realm="hawkBit"' };

/** Whoever brings an access token to the management interface learns that it is the token that is not good (RFC 6750 §3). */
const tokenChallenge = 'Bearer error="invalid_token"';
const bearer = /^bearer(?: |$)/i;

/** What another try a second later may end differently. A service's own words on it do not come with its error. */
const comeAgain: ReadonlySet<string> = new Set(["unavailable", "identityRefused", "deadlineExceeded", "tooManyRequests"]);

export interface Refusal {
  req: IncomingMessage;
  res: ServerResponse;
  error: HarrierError;
  surface: Surface;
}

/**
 * Answers an error of the gateway itself; the services answer their own. A service that hangs while somebody signs in is answered like one that
 * is away.
 */
export function sendRefusal({ req, res, error: met, surface }: Refusal): void {
  const error = met.code === "deadlineExceeded" ? new HarrierError("unavailable", undefined, { cause: met }) : met;
  // The rest of a body that was on its way to a service which is gone: unread, it would block the connection for the next request.
  if (!req.complete) {
    req.unpipe();
    req.resume();
  }
  if (error.code === "unauthenticated") {
    const byToken = surface !== "device" && bearer.test(req.headers.authorization ?? "");
    const headers = { "www-authenticate": byToken ? tokenChallenge : challenge[surface] };
    sendError(req, res, new HarrierError("unauthenticated", undefined, { headers }), surface);
  } else if (error.headers === undefined && comeAgain.has(error.code)) {
    sendError(req, res, new HarrierError(error.code, undefined, { headers: { "retry-after": "1" } }), surface);
  } else sendError(req, res, error, surface);
}

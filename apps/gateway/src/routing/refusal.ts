import type { IncomingMessage, ServerResponse } from "node:http";
import type { Surface } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { sendError } from "@harrier/service";

/** These are the challenges to an unauthenticated client (spec 000 §5.5, contract management.md §1.1). */
const challenge: Record<Surface, string> = { device: "ApiKey", spec: 'Basic realm="hawkBit"', rest: 'Basic realm="hawkBit"' };

/** On the management interface a request with an access token gets the challenge of RFC 6750 §3. */
const tokenChallenge = 'Bearer error="invalid_token"';
const bearer = /^bearer(?: |$)/i;

/** Browsers know no such scheme: for our own page they open no password box, as they would for Basic. */
const sessionChallenge = "Session";

/** A retry a second later may succeed after these errors. A service's own retry-after does not come with its error. */
const comeAgain: ReadonlySet<string> = new Set(["unavailable", "identityRefused", "deadlineExceeded", "tooManyRequests"]);

export interface DeniedRequest {
  req: IncomingMessage;
  res: ServerResponse;
  error: HarrierError;
  surface: Surface;
}

/** Answers an error of the gateway itself; the services answer their own. A service that hangs during a sign-in counts as unavailable. */
export function sendRefusal({ req, res, error: met, surface }: DeniedRequest): void {
  const error = met.code === "deadlineExceeded" ? new HarrierError("unavailable", undefined, { cause: met }) : met;
  // The rest of a body was on its way to a service that is down: unread, it would block the connection for the next request.
  if (!req.complete) {
    req.unpipe();
    req.resume();
  }
  if (error.code === "unauthenticated") {
    const byToken = surface !== "device" && bearer.test(req.headers.authorization ?? "");
    const byPage = surface !== "device" && req.headers["sec-fetch-site"] === "same-origin";
    const headers = { "www-authenticate": byToken ? tokenChallenge : byPage ? sessionChallenge : challenge[surface] };
    sendError(req, res, new HarrierError("unauthenticated", undefined, { headers }), surface);
  } else if (error.headers === undefined && comeAgain.has(error.code)) {
    sendError(req, res, new HarrierError(error.code, undefined, { headers: { "retry-after": "1" } }), surface);
  } else sendError(req, res, error, surface);
}

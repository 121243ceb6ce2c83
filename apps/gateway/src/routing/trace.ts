import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "@harrier/contracts";
import { tracer } from "@harrier/tracing";

const validTraceparent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Devices poll thousands of times a second, so that of their reads a hundredth of the share is traced. */
const shareOfDeviceReads = 0.01;

interface Traced {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly route: Route;
  readonly rid: string;
}

/**
 * Answers the traceparent with which a request goes on: the client's trace, else a new one; none for a device's reads, which the request id finds.
 * Where tracing is on, a share of the requests is recorded, and where it is off here, none, whatever their clients say of that: services follow the flag, and
 * no client decides what our collector gets.
 */
export function beginTrace({ req, res, route, rid }: Traced, share: number): string | undefined {
  const given = givenTrace(req);
  const frequent = route.interface === "device" && route.method === "GET";
  const unrecorded = (): string | undefined => (given !== undefined ? `${given.slice(0, -2)}00` : frequent ? undefined : newTrace());
  if (tracer === undefined) return unrecorded();
  const name = `${route.method} ${route.path}`;
  const span = tracer.root({
    name,
    given,
    share: frequent ? share * shareOfDeviceReads : share,
    attributes: { "http.request.method": req.method ?? "GET", "http.route": route.path, "harrier.request_id": rid },
  });
  if (span === undefined) return unrecorded();
  res.once("close", () => {
    const status = res.statusCode;
    if (res.writableFinished) span.end({ "http.response.status_code": status }, status < 500 ? undefined : String(status));
    else span.end({ "harrier.code": "clientGone" });
  });
  return span.traceparent;
}

function givenTrace(req: IncomingMessage): string | undefined {
  const given = req.headers["traceparent"];
  return typeof given === "string" && validTraceparent.test(given) ? given : undefined;
}

function newTrace(): string {
  const hex = randomUUID().replaceAll("-", "");
  return `00-${hex}-${hex.slice(3, 19)}-00`;
}

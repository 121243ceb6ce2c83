import type { Route } from "@harrier/contracts";
import type { HarrierError } from "@harrier/errors";
import { tracer } from "@harrier/tracing";
import type { Context } from "./request-context.ts";

/**
 * Runs the work of a request in a span behind the gateway's, if that is recorded: what it calls and changes comes behind this one. Only what the
 * gateway has signed is known of the trace.
 * @param name The method and the pattern of the route, never its path.
 */
export function traceRequest<R extends Route, T>(ctx: Context<R>, name: string, work: () => T): T {
  const { identity, req } = ctx;
  const span = tracer?.begin({
    name,
    kind: "server",
    parent: identity.traceparent,
    attributes: {
      "http.request.method": req.method,
      "http.route": name.slice(name.indexOf(" ") + 1),
      "harrier.tenant": identity.tenant,
      "harrier.request_id": identity.rid,
    },
  });
  if (span === undefined) return work();
  ctx.span = span;
  identity.traceparent = span.traceparent;
  return span.run(work);
}

/** Ends the span of a request with its status. A refusal is no failure of the server, but its code is shown. */
export function endTrace<R extends Route>({ span, roundTrips }: Context<R>, status: number, failure: HarrierError | undefined): void {
  if (span === undefined) return;
  const attributes = { "http.response.status_code": status, "harrier.round_trips": roundTrips };
  if (failure === undefined || status < 500) span.end(failure === undefined ? attributes : { ...attributes, "harrier.code": failure.code });
  else span.end(attributes, failure.code);
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log, Metrics, RouteTimer } from "@harrier/service";
import type { RequestFacts } from "./handle.ts";

/**
 * One line and one measurement per request, by the route's pattern and never by its path. Successful polls and downloads,
 * and requests beyond a rate limit, are lines of level debug: at thousands a second they would say nothing and cost more than the polls.
 */
export function createRequestLog(deps: { log: Log; metrics: Metrics; now: () => number }) {
  const timers = new Map<string, RouteTimer>();
  return (req: IncomingMessage, res: ServerResponse, facts: RequestFacts): void => {
    const { path: pattern, method } = facts.route ?? facts.open ?? { path: "(none)", method: "(none)" };
    const key = `${method} ${pattern}`;
    let timer = timers.get(key);
    if (timer === undefined) {
      timer = deps.metrics.route(method, pattern);
      timers.set(key, timer);
    }
    const ms = deps.now() - facts.startedAt;
    timer.observe(res.statusCode, ms / 1_000);
    const quiet = facts.route?.interface === "device" && (res.statusCode < 400 || res.statusCode === 429);
    const level = quiet ? "debug" : "info";
    if (!deps.log.isLevelEnabled(level)) return;
    const { rid, principal } = facts;
    deps.log[level](
      { rid, tenant: principal?.tenant, principal: principal?.subject, route: key, method: req.method, status: res.statusCode, ms },
      "request",
    );
  };
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log, Metrics, RouteTimer } from "@harrier/service";
import type { RequestFacts } from "./handle.ts";

/** The number of requests beyond a limit is logged this often. */
const excessEveryMs = 10_000;
/** It is logged for each of this many tenants; those of the others are one number. */
const maxTenants = 20;

/**
 * Logs one line and one measurement per request, by the route's pattern and never by its path. Successful polls and downloads, and requests beyond a
 * limit (429), are lines of level debug: at thousands a second they would say nothing and cost more than the polls. The number beyond a limit is one
 * line in ten seconds.
 */
export function createRequestLog(deps: { log: Log; metrics: Metrics; now: () => number }) {
  const timers = new Map<string, RouteTimer>();
  const excess = createExcessLog(deps.log);
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
    const { rid, principal } = facts;
    const beyond = res.statusCode === 429;
    if (beyond) excess(principal?.tenant);
    const quiet = beyond || (facts.route?.interface === "device" && res.statusCode < 400);
    const level = quiet ? "debug" : "info";
    if (!deps.log.isLevelEnabled(level)) return;
    deps.log[level](
      { rid, tenant: principal?.tenant, principal: principal?.subject, route: key, method: req.method, status: res.statusCode, ms },
      "request",
    );
  };
}

/** Counts requests beyond a limit by their tenant (`(none)`: not signed in), and logs the number once in a while. */
function createExcessLog(log: Log): (tenant: string | undefined) => void {
  const counts = new Map<string, number>();
  const tell = (): void => {
    log.info({ refused: Object.fromEntries(counts) }, "requests beyond a limit");
    counts.clear();
  };
  return (tenant = "(none)") => {
    if (counts.size === 0) setTimeout(tell, excessEveryMs).unref();
    const name = counts.has(tenant) || counts.size < maxTenants ? tenant : "(others)";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
}

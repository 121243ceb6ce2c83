import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log, Metrics, RouteTimer } from "@harrier/service";
import type { RequestFacts } from "./handle.ts";

/** The numbers of requests that are no lines of their own are logged this often. */
const countsEveryMs = 10_000;
/** They are logged for each of this many tenants; those of the others are one number. */
const maxTenants = 20;

/**
 * Logs one line and one measurement per request, by the route's pattern and never by its path. Successful polls and downloads, and requests beyond a
 * limit (429), are lines of level debug: at thousands a second they would say nothing and cost more than the polls. So are those of devices that are
 * answered 503: a whole fleet gets that from a service that is down. The numbers of both are one line each in ten seconds.
 */
export function createRequestLog(deps: { log: Log; metrics: Metrics; now: () => number }) {
  const timers = new Map<string, RouteTimer>();
  const countBeyond = createCountLog((refused) => deps.log.info({ refused }, "requests beyond a limit"));
  const countUnanswered = createCountLog((unanswered) => deps.log.info({ unanswered }, "requests of devices that were answered 503"));
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
    const ofDevice = facts.route?.interface === "device";
    const unanswered = ofDevice && res.statusCode === 503;
    if (beyond) countBeyond(principal?.tenant);
    if (unanswered) countUnanswered(principal?.tenant);
    const quiet = beyond || unanswered || (ofDevice && res.statusCode < 400);
    const level = quiet ? "debug" : "info";
    if (!deps.log.isLevelEnabled(level)) return;
    deps.log[level](
      { rid, tenant: principal?.tenant, principal: principal?.subject, route: key, method: req.method, status: res.statusCode, ms },
      "request",
    );
  };
}

/** Counts requests by their tenant (`(none)`: not signed in), and tells the numbers once in a while. */
function createCountLog(told: (byTenant: Record<string, number>) => void): (tenant: string | undefined) => void {
  const counts = new Map<string, number>();
  const tell = (): void => {
    told(Object.fromEntries(counts));
    counts.clear();
  };
  return (tenant = "(none)") => {
    if (counts.size === 0) setTimeout(tell, countsEveryMs).unref();
    const name = counts.has(tenant) || counts.size < maxTenants ? tenant : "(others)";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
}

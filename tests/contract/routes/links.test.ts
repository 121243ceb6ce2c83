import type { Route } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { call, dialects } from "../support/call.ts";
import { credentials, pathOf, send } from "../support/http.ts";
import { createFixture } from "../support/tenant.fixture.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

/** Clients expect these links, though this version does not serve their operations yet. */
const later = new Set(["triggerNextGroup", "approve", "deny"]);
/** These links lead to operations and not to readable resources. */
const operations = new Set([
  "start",
  "pause",
  "resume",
  "triggerNextGroup",
  "approve",
  "deny",
  "activate",
  "deactivate",
  "activateAutoConfirm",
  "deactivateAutoConfirm",
]);

/** Finds the links of a JSON value with their names. */
function linksIn(value: unknown): [rel: string, href: string][] {
  if (Array.isArray(value)) return value.flatMap(linksIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]): [string, string][] => {
    if (key === "links" && Array.isArray(member)) return member.map(({ rel, href }) => [rel, href]);
    if (key !== "_links") return linksIn(member);
    return Object.entries(member as Record<string, { href: string }>).map(([rel, { href }]) => [rel, href]);
  });
}

describe.each(dialects)("links, %s", (dialect) => {
  inOwnTenant(dialect, 2);
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    requests = validRequests(await createFixture(dialect, "action.cleanup.onQuotaHit.percent"));
  });

  const reading = routesOn(dialect).filter(
    ([, route]: [string, Route, unknown]) => route.response !== undefined && route.method !== "DELETE",
  );

  it.each(reading)("device 13.85, management 1.5 every link in an answer of %s leads somewhere", async (id, route, surface) => {
    const options = await (requests[id] as ValidRequest)();
    const { json } = await call<unknown>(route, surface, options);
    const authorization = options.auth ?? (surface === "device" ? credentials.gateway : credentials.admin);
    for (const [rel, href] of new Map(linksIn(json).map((link) => [link[1], link] as const)).values()) {
      const { status, headers } = await send(pathOf(href), { headers: { authorization } });
      const shown = `${rel} -> ${href} answered ${status}`;
      if ((later.has(rel) || /\/targets\/[^/]+\/metadata/.test(href)) && status === 404) continue;
      if (operations.has(rel)) {
        expect(status, shown).toBe(405);
        expect(String(headers["allow"]), shown).toContain("POST");
      } else {
        expect([200, 204], shown).toContain(status);
      }
    }
  });
});

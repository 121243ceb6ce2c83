import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { frames, haveSession, openPage, type Visit, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { operator, useBrowser } from "./support/suite.ts";

// Every page while an operation that it needs fails: it says what failed in the server's words, goes on with one key, and shows what it then gets.

const browser = useBrowser();
const login = operator;
const ids: Record<string, string> = {};
let seen: Visit;

beforeAll(async () => {
  const admin = adminOf(login());
  const name = uniqueName("state");
  const set = await makeSet(admin, name);
  const [device] = await makeDevices(admin, name, 3);
  const query = `controllerid==${name}-*`;
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name,
    distributionSetId: set.id,
    targetFilterQuery: query,
    amountGroups: 1,
  });
  const filter = await admin.post<{ id: number }>("targetfilters", { name, query });
  const modules = await admin.get<{ content: { id: number }[] }>(`softwaremodules?q=name==${name}`);
  Object.assign(ids, { rollout: rollout.id, set: set.id, filter: filter.id, module: modules.content[0]?.id, device: device?.controllerId });
  seen = await visit(browser());
  await haveSession(seen, login());
});

/** A page, and the path of a request that it cannot do without. */
const needs: readonly (readonly [page: string, request: RegExp])[] = [
  ["/", /\/rollouts\?/],
  ["/", /\/targets.summary\?by=updatestatus/],
  ["/devices", /\/targets\?.*limit=1(&|$)/],
  ["/devices", /\/targets\?.*limit=200/],
  ["/devices/{device}", /\/targets\/{device}$/],
  ["/devices/{device}", /\/targets\/{device}\/installedDS$/],
  ["/devices/{device}?tab=history", /\/targets\/{device}\/actions/],
  ["/devices/{device}?tab=attributes", /\/targets\/{device}\/attributes/],
  ["/devices/{device}?tab=metadata", /\/targets\/{device}\/metadata/],
  ["/rollouts", /\/rollouts\?.*limit=1(&|$)/],
  ["/rollouts/new", /\/distributionsets\?/],
  ["/rollouts/{rollout}", /\/rollouts\/{rollout}$/],
  ["/rollouts/{rollout}", /\/deploygroups\?/],
  ["/rollouts/{rollout}?tab=failures", /\/failures/],
  ["/rollouts/{rollout}?tab=silent", /\/actions\?/],
  ["/rollouts/{rollout}?tab=devices", /\/deploygroups\/\d+\/targets/],
  ["/rollouts/{rollout}?tab=timeline", /\/timeline/],
  ["/approvals", /\/rollouts\?/],
  ["/software", /\/distributionsets\?/],
  ["/software?tab=modules", /\/softwaremodules\?/],
  ["/software/sets/{set}", /\/distributionsets\/{set}$/],
  ["/software/sets/{set}", /\/distributionsets\/{set}\/statistics/],
  ["/software/sets/{set}", /\/distributionsets\/{set}\/tags/],
  ["/software/compare?a={set}&b={set}", /\/distributionsets\/{set}$/],
  ["/software/modules/{module}", /\/softwaremodules\/{module}$/],
  ["/software/modules/{module}", /\/softwaremodules\/{module}\/artifacts/],
  ["/auto-assign", /\/targetfilters\?/],
  ["/auto-assign?tab=assignments", /\/autoassignments\?/],
  ["/filters/{filter}", /\/targetfilters\/{filter}$/],
  ["/actions", /\/actions\?/],
  ["/audit", /\/audit\?/],
  ["/reports", /\/insights\/actions\/monthly/],
  ["/settings", /\/system\/configs$/],
  ["/settings/polling", /\/system\/configs\/schema|\/system\/configs$/],
  ["/settings/types", /\/targettypes\?/],
  ["/settings/tags", /\/targettags\?/],
  ["/settings/users", /\/users\?/],
  ["/settings/roles", /\/roles\?/],
  ["/settings/keys", /\/api-keys/],
  ["/settings/clients", /\/oauth2-clients|\/clients/],
  ["/settings/webhooks", /\/webhooks/],
  ["/settings/quotas", /\/system\/quotas/],
  ["/system", /\/system\/tenants\?/],
  ["/system/operations", /\/operations/],
  ["/system/status", /\/system\/status/],
  ["/me", /\/me\/sessions/],
];

const filled = (text: string) => text.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => ids[name] ?? name);
const alertsOf = (page: Page) => page.locator("main [role=alert]");

test.each(needs)("%s says that %s failed, asks again at a key, and shows what it gets", async (path, request) => {
  const { page } = seen;
  const wanted = new RegExp(filled(request.source));
  let [refused, broken] = [0, true];
  await page.route("**/api/mgmt/v1/**", async (route) => {
    const { pathname, search } = new URL(route.request().url());
    if (route.request().method() !== "GET" || !wanted.test(pathname + search)) return route.fallback();
    if (!broken) return route.fallback();
    const headers = { "x-request-id": "req-of-this", "content-type": "application/json" };
    refused += 1;
    await route.fulfill({ status: 500, headers, body: JSON.stringify({ message: "Broken on purpose." }) });
  });
  await page.goto(`${login().baseUrl}/console${filled(path)}`);
  const alert = alertsOf(page).filter({ hasText: "Broken on purpose." }).first();
  await alert.waitFor();
  expect(await alert.textContent()).toContain("req-of-this");
  const before = refused;
  await alert.getByRole("button", { name: "Try again" }).press("Enter");
  await expect.poll(() => refused).toBeGreaterThan(before);
  await alert.waitFor();
  broken = false;
  // What is asked for again and again, or when the server tells of a change, may be there before somebody presses; and whoever presses while the page
  // still has the last refusal to read gets that one, and presses again.
  const press = () => alert.getByRole("button", { name: "Try again" }).evaluateAll(([one]) => (one as HTMLElement | undefined)?.click());
  await expect.poll(() => press().then(() => alertsOf(page).count()), { interval: 500 }).toBe(0);
  await page.locator("h1").first().waitFor();
  await page.unroute("**/api/mgmt/v1/**");
  expect(seen.complaints).toEqual([]);
});

test("the overview keeps what it shows while what failed is asked for again", async () => {
  const { page } = seen;
  const calls = /targets\.summary\?by=overdue/;
  let [again, asked] = [Promise.resolve(), 0];
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(calls, async (route) => {
    asked += 1;
    await again;
    const answer = { status: 500, contentType: "application/json", body: JSON.stringify({ message: "Broken on purpose." }) };
    // What is held when the test ends is let through instead.
    await route.fulfill(answer).catch(() => undefined);
  });
  await page.goto(`${login().baseUrl}/console/`);
  const alert = alertsOf(page).filter({ hasText: "Broken on purpose." }).first();
  await alert.waitFor();
  again = promise;
  const before = asked;
  await alert.getByRole("button", { name: "Try again" }).press("Enter");
  await expect.poll(() => asked).toBeGreaterThan(before);
  await frames(page);
  expect(await alert.count()).toBe(1);
  resolve();
  await page.unroute(calls);
});

const lists = [
  ["/devices", "**/api/mgmt/v1/targets?**"],
  ["/software", "**/api/mgmt/v1/distributionsets?**"],
  ["/audit", "**/api/mgmt/v1/audit?**"],
] as const;
const answers = [
  [403, "You may not."],
  [404, "It is gone."],
  [429, "Too many requests."],
  [503, "The service is not available."],
] as const;

test.each(lists)("%s says what the server refused, whatever its status", async (path, calls) => {
  const { page } = seen;
  for (const [status, message] of answers) {
    const id = `req-${status}`;
    const headers = { "x-request-id": id, "content-type": "application/json", "retry-after": "0" };
    await page.route(calls, (route) => route.fulfill({ status, headers, body: JSON.stringify({ message }) }));
    await page.goto(`${login().baseUrl}/console${path}`);
    const alert = alertsOf(page).first();
    await alert.getByText(message, { exact: true }).waitFor();
    expect(await alert.textContent()).toContain(id);
    await page.unroute(calls);
  }
  expect(seen.complaints).toEqual([]);
});

const filtered = [
  ["/devices?q=name==nobody", "/devices"],
  ["/rollouts?q=status==stopped", "/rollouts"],
  ["/software?q=name==nothing", "/software"],
  ["/software?tab=modules&q=name==nothing", "/software"],
  ["/actions?q=weight==999", "/actions"],
  ["/audit?q=action==nothing", "/audit"],
  ["/auto-assign?q=nothing", "/auto-assign"],
  ["/settings/roles?q=nothing", "/settings/roles"],
] as const;

test.each(filtered)("%s says of how many nothing matches, and clears the filter", async (path, after) => {
  const { page } = seen;
  await openPage(page, login().baseUrl, path);
  await page.getByText(/^0 of (more than )?[\d,]+ match this filter\.$/).waitFor();
  await page.getByRole("button", { name: "Clear the filter" }).last().press("Enter");
  await page.getByText("Nothing matches").waitFor({ state: "detached" });
  expect(new URL(page.url()).pathname).toBe(`/console${after}`);
  expect(new URL(page.url()).searchParams.get("q")).toBeNull();
});

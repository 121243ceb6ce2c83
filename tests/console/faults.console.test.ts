import { startTestStack, uniqueName } from "@harrier/testkit";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { haveSession, openPage, startBrowser, visit } from "./support/browser.ts";
import { adminOf, makeDevices } from "./support/fleet.ts";

// What a page shows while the server refuses, is away, or cuts what it had begun; what is shown afterwards is what the server says.

let stack: Awaited<ReturnType<typeof startTestStack>>;
let browser: Browser;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startTestStack(), startBrowser()]);
  await makeDevices(adminOf(stack), uniqueName("here"), 3);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const lists = [
  ["/devices", "**/api/mgmt/v1/targets?**"],
  ["/rollouts", "**/api/mgmt/v1/rollouts?**"],
  ["/software", "**/api/mgmt/v1/distributionsets?**"],
  ["/actions", "**/api/mgmt/v1/actions?**"],
  ["/audit", "**/api/mgmt/v1/audit?**"],
] as const;
const answers = [
  [403, "You may not."],
  [404, "It is gone."],
  [429, "Too many requests."],
  [500, "Broken on purpose."],
  [503, "The service is not available."],
] as const;

test.each(lists)("%s says what the server refused and with which request, and shows its list when that is over", async (path, calls) => {
  const visited = await visit(browser);
  const { page, context, complaints } = visited;
  await haveSession(visited, stack.baseUrl, stack.adminPassword);
  for (const [status, message] of answers) {
    const id = `req-${status}`;
    const headers = { "x-request-id": id, "content-type": "application/json", "retry-after": "0" };
    await page.route(calls, (route) => route.fulfill({ status, headers, body: JSON.stringify({ message }) }));
    await page.goto(`${stack.baseUrl}/console${path}`);
    const alert = page.getByRole("alert").first();
    await alert.getByText(message, { exact: true }).waitFor();
    expect(await alert.textContent()).toContain(id);
    await page.unroute(calls);
    // A list that is asked for again and again may be there before the key is pressed.
    await alert
      .getByRole("button", { name: "Try again" })
      .press("Enter", { timeout: 3_000 })
      .catch(() => undefined);
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    await page.locator("h1").first().waitFor();
  }
  expect(complaints).toEqual([]);
  await context.close();
});

test("a browser without its network keeps the page, says so, and goes on when it is back", async () => {
  const visited = await visit(browser);
  const { page, context } = visited;
  await haveSession(visited, stack.baseUrl, stack.adminPassword);
  await openPage(page, stack.baseUrl, "/devices");
  const before = await page.locator("[role=grid] [role=row]").count();
  await context.setOffline(true);
  await page.getByRole("link", { name: "Rollouts" }).first().press("Enter");
  await context.setOffline(false);
  await openPage(page, stack.baseUrl, "/devices");
  expect(await page.locator("[role=grid] [role=row]").count()).toBe(before);
  await context.close();
});

test("two tabs follow one stream; after the gateway was killed both show what happened meanwhile", async () => {
  const admin = adminOf(stack);
  const visited = await visit(browser);
  await haveSession(visited, stack.baseUrl, stack.adminPassword);
  const streams: string[] = [];
  visited.context.on("request", (request) => {
    if (request.url().includes("/events/stream")) streams.push(request.url());
  });
  const second = await visited.context.newPage();
  const tabs = [visited.page, second];
  for (const page of tabs) await openPage(page, stack.baseUrl, "/devices");
  const counts = () => Promise.all(tabs.map(async (page) => page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount")));
  const total = async () => String((await admin.get<{ total: number }>("targets?limit=1")).total + 1);
  await expect.poll(counts).toEqual([await total(), await total()]);
  await expect.poll(() => streams.length).toBe(1);
  await makeDevices(admin, uniqueName("told"), 1);
  await expect.poll(counts, { timeout: 20_000 }).toEqual([await total(), await total()]);
  expect(streams).toHaveLength(1);

  await stack.restart("gateway", 0);
  await expect.poll(async () => (await admin.call("userinfo").catch(() => ({ status: 0 }))).status, { timeout: 30_000 }).toBe(200);
  await makeDevices(admin, uniqueName("after"), 1);
  await expect.poll(counts, { timeout: 30_000 }).toEqual([await total(), await total()]);
  await expect.poll(() => streams.length, { timeout: 30_000 }).toBeGreaterThan(1);
  await visited.context.close();
});

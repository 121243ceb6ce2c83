import { createHash, randomBytes } from "node:crypto";
import { startTestStack, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { haveSession, openPage, visit } from "./support/browser.ts";
import { adminOf, loginOf, makeDevices } from "./support/fleet.ts";
import { useBrowser } from "./support/suite.ts";

// What a page shows while the server refuses, is away, or cuts what it had begun; what is shown afterwards is what the server says.

let stack: Awaited<ReturnType<typeof startTestStack>>;
const browser = useBrowser();
const login = () => loginOf(stack);

beforeAll(async () => {
  stack = await startTestStack();
  await makeDevices(adminOf(login()), uniqueName("here"), 3);
});
afterAll(() => stack?.stop());

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
  const visited = await visit(browser());
  const { page, context, complaints } = visited;
  await haveSession(visited, login());
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
  const visited = await visit(browser());
  const { page, context } = visited;
  await haveSession(visited, login());
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
  const admin = adminOf(login());
  const visited = await visit(browser());
  await haveSession(visited, login());
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

test("a gateway that is killed in an upload is said on the page, and the file goes on where the server is", async () => {
  const admin = adminOf(login());
  const [module] = await admin.post<{ id: number }[]>("softwaremodules", [{ name: uniqueName("large"), version: "1.0", type: "os" }]);
  const visited = await visit(browser());
  const { page, context, complaints } = visited;
  await haveSession(visited, login());
  const sent: number[] = [];
  const parts = /artifacts\/uploads\/[^/?]+\?offset=(\d+)/;
  let killed = false;
  // The gateway dies while it has a part in its hands: the first one is there, the second one is on its way.
  await page.route(parts, async (route) => {
    const offset = Number(parts.exec(route.request().url())?.[1]);
    sent.push(offset);
    if (offset > 0 && !killed) {
      killed = true;
      stack.kill("gateway");
    }
    await route.continue();
  });
  await openPage(page, stack.baseUrl, `/software/modules/${module?.id}`);
  const file = randomBytes(24 * 2 ** 20);
  await page.getByLabel("Choose a file").setInputFiles({ name: "large.bin", mimeType: "application/octet-stream", buffer: file });
  await page.getByText("The connection broke").first().waitFor();
  await page.getByText("Both have the same SHA-256").waitFor({ timeout: 90_000 });
  expect(await page.locator("main").textContent()).toContain(createHash("sha256").update(file).digest("hex"));
  // It went on: nothing was sent from the beginning again.
  expect(sent.filter((offset) => offset === 0)).toHaveLength(1);
  expect(complaints).toEqual([]);
  await context.close();
});

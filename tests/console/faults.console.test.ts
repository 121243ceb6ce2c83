import { createHash, randomBytes } from "node:crypto";
import { startTestStack, uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { haveSession, openPage, visit } from "./support/browser.ts";
import { adminOf, loginOf, makeDevices } from "./support/fleet.ts";
import { useBrowser } from "./support/suite.ts";

// What a page shows while the server refuses, is away, or cuts what it had begun; what is shown afterwards is what the server says.

let stack: Awaited<ReturnType<typeof startTestStack>>;
const browser = useBrowser();
const login = () => loginOf(stack);
const uniquePrefix = uniqueName("here");

beforeAll(async () => {
  stack = await startTestStack();
  await makeDevices(adminOf(login()), uniquePrefix, 3);
});
afterAll(() => stack?.stop());

const rowsOf = (page: Page) => page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount");
/** What the foot of the navigation says of how the page learns of changes. */
const modeOf = (page: Page) => page.getByText(/^(Live|Asks every few seconds)$/).textContent();
const old = (page: Page) => page.getByRole("status").filter({ hasText: /As of \d/ });

test("a browser without its network keeps what it shows, says of when and why, and goes on by itself when it is back", async () => {
  const visited = await visit(browser());
  const { page, context, complaints } = visited;
  await haveSession(visited, login());
  await openPage(page, stack.baseUrl, "/devices");
  await expect.poll(() => rowsOf(page)).not.toBeNull();
  const before = await rowsOf(page);
  await context.setOffline(true);
  await old(page).getByText("This browser has no network.").waitFor();
  expect(await rowsOf(page)).toBe(before);
  expect(await page.getByText(uniquePrefix).count()).toBeGreaterThan(0);
  await expect.poll(() => modeOf(page)).toBe("Asks every few seconds");
  await context.setOffline(false);
  await old(page).waitFor({ state: "detached" });
  await expect.poll(() => modeOf(page), { timeout: 20_000 }).toBe("Live");
  expect(complaints).toEqual([]);
  await context.close();
});

test("what cannot be asked for again stays, grey and with its time, until it can", async () => {
  const visited = await visit(browser());
  const { page, context, complaints } = visited;
  await haveSession(visited, login());
  const calls = "**/api/mgmt/v1/targets/*";
  const here = `/devices/${uniquePrefix}-000`;
  await openPage(page, stack.baseUrl, here);
  await page.getByRole("heading", { level: 1, name: `${uniquePrefix}-000` }).waitFor();
  const headers = { "content-type": "application/json" };
  await page.route(calls, (route) => route.fulfill({ status: 500, headers, body: JSON.stringify({ message: "Broken on purpose." }) }));
  await old(page).getByText("Broken on purpose.").waitFor();
  await page.getByRole("heading", { level: 1, name: `${uniquePrefix}-000` }).waitFor();
  await page.unroute(calls);
  await old(page).getByRole("button", { name: "Try again" }).press("Enter");
  await old(page).waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("a page whose stream does not open says so, and is right within ten seconds all the same", async () => {
  const admin = adminOf(login());
  const visited = await visit(browser());
  const { page, context } = visited;
  await haveSession(visited, login());
  // It neither answers nor breaks, as behind a proxy that holds everything back.
  await page.route("**/events/stream**", () => undefined);
  await openPage(page, stack.baseUrl, "/devices");
  await expect.poll(() => rowsOf(page)).not.toBeNull();
  expect(await modeOf(page)).toBe("Asks every few seconds");
  await makeDevices(admin, uniqueName("late"), 1);
  const { total } = await admin.get<{ total: number }>("targets?limit=1");
  await expect.poll(() => rowsOf(page), { timeout: 10_000 }).toBe(String(total + 1));
  await context.close();
});

/** The tab that follows the stream for all: it holds the lock. */
async function leaderOf(tabs: readonly Page[]): Promise<Page> {
  for (const page of tabs) {
    const own = await page.evaluate(async () => {
      const { held = [] } = await navigator.locks.query();
      // Of a lock only the client is told; a page learns its own by a lock of its own.
      return navigator.locks.request(`mine-${crypto.randomUUID()}`, async (mine) => {
        const all = (await navigator.locks.query()).held ?? [];
        const me = all.find(({ name }) => name === mine?.name)?.clientId;
        return held.some(({ name, clientId }) => name === "harrier-live" && clientId === me);
      });
    });
    if (own) return page;
  }
  throw new Error("no tab follows the stream");
}

test("two tabs follow one stream, which the one in sight has; after the gateway was killed both show what happened meanwhile", async () => {
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
  for (const page of tabs) await expect.poll(() => modeOf(page)).toBe("Live");
  await makeDevices(admin, uniqueName("told"), 1);
  await expect.poll(counts, { timeout: 20_000 }).toEqual([await total(), await total()]);
  expect(streams).toHaveLength(1);

  // The tab that has the stream is put out of sight, which headless browsers do not do: it hands the stream on.
  const leader = await leaderOf(tabs);
  await leader.evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await expect.poll(() => streams.length, { timeout: 20_000 }).toBe(2);
  for (const page of tabs) await expect.poll(() => modeOf(page)).toBe("Live");
  await leader.evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
    document.dispatchEvent(new Event("visibilitychange"));
  });

  await stack.restart("gateway", 0);
  await expect.poll(async () => (await admin.call("userinfo").catch(() => ({ status: 0 }))).status, { timeout: 30_000 }).toBe(200);
  await makeDevices(admin, uniqueName("after"), 1);
  await expect.poll(counts, { timeout: 30_000 }).toEqual([await total(), await total()]);
  await expect.poll(() => streams.length, { timeout: 30_000 }).toBeGreaterThan(2);
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

test("an upload whose page was closed goes on with the same file, and with no other", async () => {
  const admin = adminOf(login());
  const [module] = await admin.post<{ id: number }[]>("softwaremodules", [{ name: uniqueName("again"), version: "1.0", type: "os" }]);
  const visited = await visit(browser());
  const { page, context, complaints } = visited;
  await haveSession(visited, login());
  const parts = /artifacts\/uploads\/[^/?]+\?offset=(\d+)/;
  const sent: number[] = [];
  let holds = true;
  await page.route(parts, async (route) => {
    const offset = Number(parts.exec(route.request().url())?.[1]);
    sent.push(offset);
    // the second part never leaves the page that is going to be closed
    if (offset === 0 || !holds) await route.continue();
  });
  const path = `/software/modules/${module?.id}`;
  await openPage(page, stack.baseUrl, path);
  const [file, other] = [randomBytes(9 * 2 ** 20), randomBytes(9 * 2 ** 20)];
  const chosen = (buffer: Buffer) => ({ name: "again.bin", mimeType: "application/octet-stream", buffer });
  await page.getByLabel("Choose a file").setInputFiles(chosen(file));
  await expect.poll(() => sent, { timeout: 20_000 }).toEqual([0, 8 * 2 ** 20]);
  holds = false;
  await page.reload();
  await page.getByRole("heading", { name: "Unfinished uploads" }).waitFor();
  await page.getByText("8.39 MB of 9.44 MB are stored").waitFor();
  await page.getByLabel("Go on with again.bin").setInputFiles(chosen(other));
  await page.getByText("This is another file.").waitFor();
  await page.getByLabel("Go on with again.bin").setInputFiles(chosen(file));
  await page.getByText("Both have the same SHA-256").waitFor({ timeout: 60_000 });
  expect(await page.locator("main").textContent()).toContain(createHash("sha256").update(file).digest("hex"));
  expect(sent.filter((offset) => offset === 0)).toHaveLength(1);
  // what is finished is not offered again, and neither is what the server has forgotten
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await page.getByText("Unfinished uploads").count()).toBe(0);

  // what was changed behind its beginning is known by its hash, of which no artifact is made
  const patched = Buffer.concat([file.subarray(0, 2 ** 21), randomBytes(16), file.subarray(2 ** 21 + 16)]);
  sent.length = 0;
  holds = true;
  const renamed = (buffer: Buffer) => ({ ...chosen(buffer), name: "patched.bin" });
  await page.getByLabel("Choose a file").setInputFiles(renamed(file));
  await expect.poll(() => sent, { timeout: 20_000 }).toEqual([0, 8 * 2 ** 20]);
  holds = false;
  await page.reload();
  await page.getByLabel("Go on with patched.bin").setInputFiles(renamed(patched));
  await page
    .getByRole("alert")
    .getByText(/sha-?256/i)
    .waitFor({ timeout: 60_000 });
  const { length } = await admin.get<object[]>(`softwaremodules/${module?.id}/artifacts`);
  expect(length).toBe(1);
  expect(complaints).toEqual([]);
  await context.close();
});

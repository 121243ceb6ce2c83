import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { haveSession, type Login, openPage, visit } from "./support/browser.ts";
import { adminOf, makeDevices } from "./support/fleet.ts";
import { makePages } from "./support/pages.ts";
import { shiftsOf } from "./support/shifts.ts";
import { makeTenant, useBrowser, visitTenant } from "./support/suite.ts";

// What is on a page stays where it is, so that whoever presses something presses what was meant.

const browser = useBrowser();
const prefix = uniqueName("placed");
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
  await makeDevices(admin(), prefix, 12);
});

const admin = () => adminOf(login);

test("the first row that is chosen moves no row", async () => {
  await openPage(page, login.baseUrl, "/devices");
  const last = page.getByRole("checkbox", { name: `Choose ${prefix}-011` });
  const top = async () => (await last.boundingBox())?.y;
  await last.waitFor();
  const before = await top();
  await last.press("Space");
  await page.getByText("1 device chosen").waitFor();
  expect(await top()).toBe(before);
  await page.getByRole("button", { name: "Choose none" }).press("Enter");
  await page.getByText("1 device chosen").waitFor({ state: "detached" });
});

test("what devices are counted by takes one line until it is unfolded", async () => {
  const names = Array.from({ length: 5 }, (_, index) => `${"zone of a long name ".repeat(3)}${index}`);
  const tags = await admin().post<{ id: number }[]>(
    "targettags",
    names.map((name) => ({ name })),
  );
  await Promise.all(tags.map(({ id }) => admin().post(`targettags/${id}/assigned/${prefix}-000`, undefined)));
  await openPage(page, login.baseUrl, "/devices");
  const chip = page.getByRole("button", { name: names[4] ?? "" });
  const grid = page.getByRole("grid", { name: "Devices" });
  const placeOf = async (part: typeof grid) => (await part.boundingBox()) ?? { y: Number.NaN, height: Number.NaN };
  await chip.waitFor();
  const folded = (await placeOf(grid)).y;
  await page.getByRole("button", { name: "Show all" }).press("Enter");
  const { y, height } = await placeOf(chip);
  expect(y + height).toBeGreaterThan(folded);
  expect((await placeOf(grid)).y).toBeGreaterThan(y + height);
  await page.getByRole("button", { name: "Show fewer" }).press("Enter");
  expect((await placeOf(grid)).y).toBe(folded);
  await chip.focus();
  await page.getByRole("button", { name: "Show fewer" }).waitFor();
  await chip.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe(`tag=="${names[4]}"`);
  expect(complaints).toEqual([]);
});

test.concurrent.each(["oldest", "newest"] as const)(
  "what a page reads late moves nothing, the %s question first",
  { timeout: 600_000 },
  async (next) => {
    // In a tenant of its own nothing happens meanwhile.
    const own = await makeTenant();
    const admin = adminOf(own);
    const pages = await makePages(admin);
    await expect.poll(async () => (await admin.get<{ total: number }>("rollouts?q=status==ready")).total).toBe(1);
    const visited = await visit(browser());
    await haveSession(visited, own);
    const urls = pages.filter((path) => !/^\/system|nothing|nowhere/.test(path)).map((path) => `${own.baseUrl}/console${path}`);
    expect(await shiftsOf(visited.page, urls, next)).toEqual([]);
    expect(visited.complaints).toEqual([]);
    await visited.context.close();
  },
);

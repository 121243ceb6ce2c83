import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { haveSession, type Login, openPage, type Visit, visit } from "./support/browser.ts";
import { adminOf, makeMany } from "./support/fleet.ts";
import { makeTenant, useBrowser } from "./support/suite.ts";

// A fleet of 100,000 devices in a list: what is in the address, what is in the document, and how far a key press reaches.

const devices = 100_000;
const prefix = uniqueName("many");
const nameOf = (index: number) => `${prefix}-${String(index).padStart(6, "0")}`;
const browser = useBrowser();
let login: Login;
let seen: Visit;

beforeAll(async () => {
  login = await makeTenant();
  await makeMany(adminOf(login), prefix, devices);
  seen = await visit(browser());
  await haveSession(seen, login);
});

const firstRow = (page: Page) => page.locator("[role=row][aria-rowindex='2']").first();
const rowsOf = (page: Page) => page.locator("[role=grid] [role=rowgroup] > [role=row]");
/** So many rows fit the window; how many more are in the document depends on how the list came to its place. */
const sure = 15;
/** The devices of the first rows that are in the document; other cells tell how long ago something was. */
const namesOf = async (page: Page) =>
  (await rowsOf(page).allTextContents()).slice(0, sure).map((text) => new RegExp(`${prefix}-\\d{6}`).exec(text)?.[0]);

test("the last of 100,000 devices is one key away, and the document never holds more than sixty rows", async () => {
  const { page } = seen;
  await openPage(page, login.baseUrl, "/devices?sort=controllerId:ASC");
  await firstRow(page).getByText(nameOf(0)).first().waitFor();
  await page.getByRole("grid", { name: "Devices" }).focus();
  await page.keyboard.press("End");
  await page
    .getByRole("grid", { name: "Devices" })
    .getByText(nameOf(devices - 1))
    .first()
    .waitFor();
  expect(await rowsOf(page).count()).toBeLessThanOrEqual(60);
  await page.keyboard.press("Home");
  await firstRow(page).getByText(nameOf(0)).first().waitFor();
});

test("two hundred jumps through the list leave little behind", async () => {
  const { page, context } = seen;
  const debug = await context.newCDPSession(page);
  const heap = async () => {
    await debug.send("HeapProfiler.collectGarbage");
    const { usedSize } = await debug.send("Runtime.getHeapUsage");
    return usedSize / 2 ** 20;
  };
  await page.getByRole("grid", { name: "Devices" }).focus();
  const jump = async (key: string, name: string) => {
    await page.keyboard.press(key);
    await page.getByRole("grid", { name: "Devices" }).getByText(name).first().waitFor();
  };
  await jump("End", nameOf(devices - 1));
  await jump("Home", nameOf(0));
  const before = await heap();
  for (let n = 0; n < 100; n += 1) {
    await jump("End", nameOf(devices - 1));
    await jump("Home", nameOf(0));
  }
  expect((await heap()) - before).toBeLessThan(30);
});

test("the address holds filter, sort and columns: a reload shows the same rows, and Back the ones before", async () => {
  const { page } = seen;
  const address = `/devices?q=${encodeURIComponent(`controllerid==${prefix}-0000*`)}&sort=controllerId:DESC`;
  await openPage(page, login.baseUrl, address);
  await firstRow(page).getByText(nameOf(99)).first().waitFor();
  const shown = await namesOf(page);
  await page.reload();
  await firstRow(page).getByText(nameOf(99)).first().waitFor();
  await expect.poll(() => namesOf(page)).toEqual(shown);
  await page.getByRole("link", { name: "Rollouts" }).first().press("Enter");
  await page.waitForURL("**/console/rollouts**");
  await page.goBack();
  await firstRow(page).getByText(nameOf(99)).first().waitFor();
  await expect.poll(() => namesOf(page)).toEqual(shown);
});

test("the page complained about nothing", () => expect(seen.complaints).toEqual([]));

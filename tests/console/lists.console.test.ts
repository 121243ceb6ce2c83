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

test("of a million devices each row is as high as it is, and the row at the keys is seen", async () => {
  const { page } = seen;
  const total = 1_000_000;
  const { content: known } = await adminOf(login).get<{ content: object[] }>("targets?limit=1&representation=full");
  const lists = /\/api\/mgmt\/v1\/targets\?/;
  const nameAt = (index: number) => `m-${String(index).padStart(6, "0")}`;
  // So many are not made for this: the page gets a list as the server would answer it.
  await page.route(lists, (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const [offset, size] = [Number(asked.get("offset") ?? 0), Number(asked.get("limit"))];
    const content = Array.from({ length: Math.min(size, total - offset) }, (_, at) => {
      const name = nameAt(offset + at);
      return { ...known[0], controllerId: name, name };
    });
    return route.fulfill({ json: { content, total, size: content.length } });
  });
  await openPage(page, login.baseUrl, "/devices");
  const grid = page.getByRole("grid", { name: "Devices" });
  const steps = () =>
    rowsOf(page).evaluateAll((rows) => {
      const tops = rows.map((row) => Math.round(row.getBoundingClientRect().top));
      return [...new Set(tops.slice(1).map((top, at) => top - (tops[at] ?? 0)))];
    });
  for (const [share, index] of [
    [0.5, 499_995],
    [1, total - 1],
    [0, 0],
  ] as const) {
    await grid.evaluate((box, at) => box.scrollTo(0, at * (box.scrollHeight - box.clientHeight)), share);
    await grid.getByText(nameAt(index)).first().waitFor();
    expect(await steps()).toEqual([40]);
    expect(await rowsOf(page).count()).toBeLessThanOrEqual(60);
  }
  /** How much of the row at the keys is outside of what the list shows. */
  const hidden = () =>
    grid.evaluate((box) => {
      const row = box.querySelector("[data-active=true]")?.getBoundingClientRect();
      const [head, all] = [box.querySelector("[role=row]")?.getBoundingClientRect(), box.getBoundingClientRect()];
      return row === undefined ? 1_000 : Math.round(Math.max(0, (head?.bottom ?? 0) - row.top, row.bottom - all.bottom));
    });
  await grid.focus();
  for (const [key, times] of [
    ["Home", 1],
    ["ArrowDown", 40],
    ["PageDown", 3],
    ["End", 1],
    ["ArrowUp", 40],
  ] as const) {
    for (let n = 0; n < times; n += 1) await page.keyboard.press(key);
    await expect.poll(hidden).toBeLessThanOrEqual(1);
  }
  await page.unroute(lists);
});

test("the address holds filter, sort and columns: a reload shows the same rows, and Back the ones before at their place", async () => {
  const { page } = seen;
  const q = encodeURIComponent(`controllerid==${prefix}-00*`);
  await openPage(page, login.baseUrl, `/devices?q=${q}&sort=controllerId:DESC&cols=name,address`);
  await firstRow(page).getByText(nameOf(9_999)).first().waitFor();
  const heads = () => page.getByRole("columnheader").allTextContents();
  const [shown, columns] = [await namesOf(page), await heads()];
  expect(columns).toContain("Address");
  expect(columns).not.toContain("Status");
  await page.reload();
  await firstRow(page).getByText(nameOf(9_999)).first().waitFor();
  await expect.poll(() => namesOf(page)).toEqual(shown);
  expect(await heads()).toEqual(columns);

  const place = () => page.getByRole("grid", { name: "Devices" }).evaluate((box) => Math.round(box.scrollTop));
  await page.getByRole("grid", { name: "Devices" }).evaluate((box) => box.scrollTo(0, 120_000));
  await page
    .getByText(nameOf(9_999 - 3_010))
    .first()
    .waitFor();
  const there = await place();
  await page.getByRole("link", { name: "Rollouts" }).first().press("Enter");
  await page.waitForURL("**/console/rollouts**");
  await page.goBack();
  await page
    .getByText(nameOf(9_999 - 3_010))
    .first()
    .waitFor();
  await expect.poll(place).toBe(there);
  expect(new URL(page.url()).searchParams.get("cols")).toBe("name,address");
});

/** Every other list, with a filter, a sort or a tab in its address. */
const addresses = [
  `/rollouts?q=${encodeURIComponent("status==finished")}&sort=name:ASC`,
  `/software?tab=modules&q=${encodeURIComponent("name==*a*")}&sort=name:DESC`,
  `/actions?q=${encodeURIComponent("active==true")}&sort=lastmodifiedat:DESC`,
  `/audit?q=${encodeURIComponent("entity==targets")}`,
  "/auto-assign?tab=assignments",
  "/settings/tags?q=red&sort=name:DESC",
] as const;

test.each(addresses)("%s is asked for as its address says, also after a reload", async (address) => {
  const { page } = seen;
  const asked: string[] = [];
  const hear = (request: { url: () => string }) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/mgmt/v1/") && search !== "" && !pathname.includes("events"))
      asked.push(decodeURIComponent(pathname + search));
  };
  page.on("request", hear);
  await openPage(page, login.baseUrl, address);
  const first = [...new Set(asked.splice(0))].toSorted();
  await page.reload();
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelector("[role=status][aria-label=Loading]") === null);
  expect([...new Set(asked)].toSorted()).toEqual(first);
  page.off("request", hear);
  const given = new URL(address, login.baseUrl).searchParams;
  for (const [name, value] of given) expect(new URL(page.url()).searchParams.get(name)).toBe(value);
  const wanted = given.get("q") ?? "";
  expect(
    first.some((text) => text.includes(wanted)),
    first.join("\n"),
  ).toBe(true);
});

test("the page complained about nothing", () => expect(seen.complaints).toEqual([]));

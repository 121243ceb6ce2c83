import { createDevice, uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// The list of devices as somebody works with it: filters that are written, kept and found again, and columns of what devices say.

const browser = useBrowser();
const prefix = uniqueName("listed");
let login: Login;
let page: Page;
let complaints: string[];
let made: { controllerId: string; token: string }[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
  made = await makeDevices(admin(), prefix, 12);
  await admin().post("targettags", [{ name: `${prefix} tag` }]);
});

const admin = () => adminOf(login);
const box = () => page.getByRole("combobox", { name: "Filter devices" });
const rows = () => page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount");
const query = () => new URL(page.url()).searchParams.get("q");
const menu = async (name: string, group?: string) => {
  await page.locator("summary", { hasText: "Filters" }).press("Enter");
  const within = group === undefined ? page.locator("main") : page.getByRole("group", { name: group });
  await within.getByRole("button", { name }).first().press("Enter");
};

test("what is chosen is forgotten with its filter, and does not come back with it", async () => {
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(`controllerid==${prefix}-00*`)}`);
  await page.getByRole("checkbox", { name: `Choose ${prefix}-000` }).press("Space");
  await page.getByRole("button", { name: "Choose all 10 that match" }).press("Enter");
  await page.getByText("10 devices chosen").waitFor();
  await page.getByRole("button", { name: "Clear the filter" }).press("Enter");
  await expect.poll(rows).toBe("13");
  await page.getByText("devices chosen").waitFor({ state: "detached" });
  expect(await page.getByRole("checkbox", { name: `Choose ${prefix}-`, checked: true }).count()).toBe(0);
  await page.goBack();
  await expect.poll(rows).toBe("11");
  expect(await page.getByText("devices chosen").count()).toBe(0);
});

test("a filter is completed where the caret is, counted before it is applied, and its mistakes are underlined", async () => {
  await openPage(page, login.baseUrl, "/devices");
  await box().focus();
  await page.keyboard.type(`controllerid==${prefix}-00*;ta`);
  await page.getByRole("option", { name: "tag", exact: true }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("==li");
  await page.getByRole("option", { name: `${prefix} tag` }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  expect(await box().inputValue()).toBe(`controllerid==${prefix}-00*;tag=="${prefix} tag"`);

  // Ten of the twelve begin so; what is counted is not applied.
  await box().fill(`controllerid==${prefix}-00*`);
  await page.getByText("10 match", { exact: true }).waitFor();
  expect(query()).toBeNull();

  // In the middle the rest stays.
  await box().fill(`upd==error;controllerid==${prefix}-00*`);
  await page.keyboard.press("Home");
  for (let n = 0; n < 3; n += 1) await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.getByRole("option").allTextContents()).toEqual(["updatestatus"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  expect(await box().inputValue()).toBe(`updatestatus==error;controllerid==${prefix}-00*`);

  await box().fill(`controllerid==${prefix};;name==a`);
  const mistake = page.locator("search u");
  await mistake.waitFor();
  expect(await mistake.textContent()).toBe(";");
  await page.getByText(`Query syntax error at position ${`controllerid==${prefix};`.length + 1}`).waitFor();
  expect(await box().getAttribute("aria-invalid")).toBe("true");
  // Enter does not apply it, and closes what is offered, which has hidden the rest of the page from screen readers.
  await page.keyboard.press("Enter");
  expect(query()).toBeNull();
  expect(await axe(page, "main")).toEqual([]);
  // What only the server knows to be wrong is said while it is written, too.
  await box().fill("colour==red");
  await page
    .locator("search")
    .getByText(/colour/)
    .waitFor();
  expect(complaints).toEqual([]);
});

test("a filter is built from conditions, whose text and conditions are the same", async () => {
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(`controllerid==${prefix}-00*;updatestatus==error`)}`);
  const build = () => page.getByRole("button", { name: "Build", exact: true }).press("Enter");
  await build();
  const dialog = page.getByRole("dialog", { name: "Build a filter" });
  const [first, second] = [1, 2].map((nth) => dialog.getByRole("group", { name: `Condition ${nth}`, exact: true }).first());
  const apply = dialog.locator("button[type=submit]");
  expect(await first?.getByLabel("Value").inputValue()).toBe(`${prefix}-00*`);
  expect(await second?.getByLabel("Value").inputValue()).toBe("error");

  // Another field keeps the comparison, and wants a value of its own.
  await second?.getByLabel("Field").selectOption("tag");
  await second?.getByLabel("Value").fill(`${prefix} tag`);
  await dialog.getByText(`controllerid==${prefix}-00*;tag=="${prefix} tag"`, { exact: true }).waitFor();
  await dialog.getByText("0 match", { exact: true }).waitFor();
  await second?.getByLabel("Comparison").selectOption("ne");
  await dialog.getByText("10 match", { exact: true }).waitFor();

  await dialog.getByRole("button", { name: "Add a group" }).press("Enter");
  expect(await apply.getAttribute("aria-disabled")).toBe("true");
  const inner = dialog.getByRole("group", { name: "Group", exact: true }).last();
  await inner.getByLabel("Field").selectOption("attribute.");
  await inner.getByLabel("Key").fill("hw");
  await inner.getByLabel("Comparison").selectOption("in");
  await inner.getByLabel("Values, separated by commas").fill('1, "2 b"');
  await dialog.getByText("0 match", { exact: true }).waitFor();
  expect(await axe(page, "[role=dialog]")).toEqual([]);
  // The focus stays where the next press is.
  await inner.getByRole("button", { name: "Take the group out" }).press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Add a condition");
  await dialog.getByText("Any of these holds").click();
  await apply.press("Enter");
  await dialog.waitFor({ state: "detached" });
  expect(query()).toBe(`controllerid==${prefix}-00*,tag!="${prefix} tag"`);
  await expect.poll(rows).toBe("13");

  // A text with a mistake is mended as text.
  await box().fill("controllerid==");
  const button = page.locator("search button", { hasText: "Build" });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await box().fill("name==a;mystery=lt=3");
  // What is offered closes, which has hidden the rest of the page.
  await page.keyboard.press("Tab");
  await build();
  expect(await second?.getByLabel("Field").inputValue()).toBe("mystery");
  await page.keyboard.press("Escape");
  expect(complaints).toEqual([]);
});

test("filters that come along, that were saved and that were applied last are one press away", async () => {
  await openPage(page, login.baseUrl, "/devices");
  await menu("Never polled", "Ready-made");
  await expect.poll(query).toBe("lastcontrollerrequestat=is=null");
  await expect.poll(rows).toBe("13");
  for (let n = 0; n < 10; n += 1) {
    await box().fill(`controllerid==${prefix}-00${n}`);
    await page.keyboard.press("Enter");
    await expect.poll(query).toBe(`controllerid==${prefix}-00${n}`);
    await expect.poll(rows).toBe("2");
  }
  await page.reload();
  await page.locator("summary", { hasText: "Filters" }).press("Enter");
  const last = page.getByRole("group", { name: "Last used" }).getByRole("button");
  await last.first().waitFor();
  const expected = Array.from({ length: 10 }, (_, n) => `controllerid==${prefix}-00${9 - n}`);
  expect(await last.allTextContents()).toEqual(expected);
  expect(await axe(page, "main")).toEqual([]);
  await last.nth(4).press("Enter");
  await expect.poll(query).toBe(expected[4]);

  await menu("Save this filter");
  const dialog = page.getByRole("dialog", { name: "New filter" });
  await dialog.getByLabel("Name").fill(`${prefix} one`);
  await dialog.getByRole("button", { name: "Create", exact: true }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  const { content } = await admin().get<{ content: { name: string; query: string }[] }>("targetfilters");
  expect(content.map(({ name, query: saved }) => [name, saved])).toEqual([[`${prefix} one`, expected[4]]]);
  await openPage(page, login.baseUrl, "/devices");
  await menu(`${prefix} one`, "Saved");
  await expect.poll(query).toBe(expected[4]);
  expect(complaints).toEqual([]);
});

test("what devices say about themselves is a column, which the address holds", async () => {
  const [first, second] = made;
  for (const [device, value] of [
    [first, "rev 7"],
    [second, "rev 8"],
  ] as const) {
    const { controllerId = "", token = "" } = device ?? {};
    const tenant = login.user.split("\\")[0] ?? "";
    const answer = await createDevice({ baseUrl: login.baseUrl, tenant, controllerId, token }).call("/configData", {
      method: "PUT",
      body: { data: { "hw, board": value, place: "hall" } },
    });
    expect(answer.status).toBe(200);
  }
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(`controllerid==${prefix}-00*`)}&sort=controllerId:ASC`);
  await page.locator("summary", { hasText: "Columns" }).press("Enter");
  const field = page.getByLabel("Attribute", { exact: true });
  await field.fill("hw");
  await expect
    .poll(() => page.locator("datalist option").evaluateAll((all) => all.map((one) => one.getAttribute("value"))))
    .toEqual(["hw, board"]);
  await field.fill("hw, board");
  await field.press("Enter");
  await page.getByRole("columnheader", { name: "hw, board" }).waitFor();
  const cell = (device: string, text: string) => page.getByRole("row").filter({ hasText: device }).getByText(text, { exact: true });
  await cell(`${prefix}-000`, "rev 7").waitFor();
  await cell(`${prefix}-001`, "rev 8").waitFor();
  await field.fill("place");
  await field.press("Enter");
  await cell(`${prefix}-001`, "hall").waitFor();
  expect(await axe(page, "main")).toEqual([]);
  await page.reload();
  await cell(`${prefix}-001`, "rev 8").waitFor();
  await page.locator("summary", { hasText: "Columns" }).press("Enter");
  await page.getByRole("checkbox", { name: "Attribute: hw, board" }).press("Space");
  await page.getByRole("columnheader", { name: "hw, board" }).waitFor({ state: "detached" });
  await cell(`${prefix}-001`, "hall").waitFor();
  expect(complaints).toEqual([]);
});

test("a file of devices is looked at, sent, and refused or taken by its lines", async () => {
  await openPage(page, login.baseUrl, "/devices");
  await page.getByRole("button", { name: "Import CSV", exact: true }).press("Enter");
  const dialog = page.getByRole("dialog");
  const give = (text: string) =>
    dialog.getByLabel("File").setInputFiles({ name: "devices.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  const send = dialog.getByRole("button", { name: /^Import/ });
  await give("id,name\na,b\n");
  await expect.poll(() => send.getAttribute("data-why")).toBe("The file has no column controllerId");
  await give("controllerId,colour\na,red\n");
  await expect.poll(() => send.getAttribute("data-why")).toBe("There is no column colour");

  // The second line is there already, and the third has a name that is too long.
  const name = `${prefix}-new`;
  await give(`controllerId,name\n${name},first\n${prefix}-000,again\n${name}-2,${"x".repeat(200)}\n`);
  await dialog.getByText("3 devices in the file; it has the columns controllerId, name.").waitFor();
  await send.press("Enter");
  const lines = dialog.getByRole("table", { name: "Lines that were not taken" }).locator("tbody tr");
  await lines.first().waitFor();
  expect((await lines.allTextContents()).map((text) => /^\d/.exec(text)?.[0])).toEqual(["3", "4"]);
  const found = async () => (await admin().get<{ total: number }>(`targets?limit=1&q=controllerid==${name}*`)).total;
  expect(await found()).toBe(0);
  expect(await axe(page, "[role=dialog]")).toEqual([]);

  await dialog.getByLabel("If a line cannot be taken").selectOption("skip");
  await send.press("Enter");
  await dialog.getByText("1 device was added, 2 lines were not taken.").waitFor();
  expect(await lines.count()).toBe(2);
  expect(await axe(page, "[role=dialog]")).toEqual([]);
  expect(await found()).toBe(1);
  await dialog.getByRole("button", { name: "Close", exact: true }).press("Enter");
  await dialog.waitFor({ state: "detached" });

  // What the page exports can be imported elsewhere; here every device is there already.
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).press("Enter")]);
  const exported = await download.createReadStream();
  const text = (await exported.toArray()).join("");
  expect(text.split("\r\n").filter((line) => line.startsWith(prefix))).toHaveLength(13);
  await page.getByRole("button", { name: "Import CSV", exact: true }).press("Enter");
  await give(text.replaceAll(prefix, `${prefix}-copy`).replaceAll(/,[0-9a-f]{32},/g, ",,"));
  await dialog.getByText(/^13 devices in the file/).waitFor();
  await send.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("13 devices were added").waitFor();
  expect((await admin().get<{ total: number }>(`targets?limit=1&q=controllerid==${prefix}-copy*`)).total).toBe(13);
  expect(complaints).toEqual([]);
});

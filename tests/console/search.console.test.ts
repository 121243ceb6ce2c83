import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// The search of the console, by keys alone.

const browser = useBrowser();
const prefix = uniqueName("sought");
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
  await makeDevices(admin(), prefix, 8);
});

const admin = () => adminOf(login);
async function search(text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).waitFor();
  await page.keyboard.type(text);
}

test("Enter in the search means what the whole text finds, also before that has come", async () => {
  await openPage(page, login.baseUrl, "/devices");
  await search(`${prefix}-0`);
  await page.getByRole("option", { name: `${prefix}-000` }).waitFor();
  await page.keyboard.type("07");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/console/devices/${prefix}-007`);
  expect(complaints).toEqual([]);
});

test("the search leads to filters, to what has a tag, to parts of the settings, and to settings", async () => {
  const named = `${prefix} in use`;
  const q = `controllerid==${prefix}-00*`;
  const { id } = await admin().post<{ id: number }>("targetfilters", { name: named, query: q });
  await admin().post("targettags", [{ name: `${prefix} eu` }]);
  await admin().post("distributionsettags", [{ name: `${prefix} lts` }]);
  await openPage(page, login.baseUrl, "/");
  const jump = async (text: string, line: string, address: RegExp) => {
    await search(text);
    await page.getByRole("option", { name: line, exact: true }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(address);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return new URL(page.url()).searchParams.get("q");
  };
  await jump(named, named, new RegExp(`/filters/${id}$`));
  await page.getByText(q).first().waitFor();
  expect(await jump(`${prefix} e`, `${prefix} eu`, /\/devices\?/)).toBe(`tag=="${prefix} eu"`);
  expect(await jump(`${prefix} l`, `${prefix} lts`, /\/software\?/)).toBe(`tag=="${prefix} lts"`);
  await jump("webh", "Webhooks Settings", /\/settings\/webhooks$/);
  await jump("sign-in of d", "Sign-in of devices Settings", /\/settings\/sign-in$/);
  await jump("overdue", "Overdue after", /\/settings\/polling$/);
  await page.getByText("pollingOverdueTime", { exact: true }).waitFor();
  // The page of another part does not decide which part is shown.
  await jump("system", "System", /\/system$/);
  await page.getByRole("heading", { name: "Operations" }).waitFor();
  expect(complaints).toEqual([]);
});

test("who closes the search is where they were", async () => {
  await openPage(page, login.baseUrl, "/devices");
  const filter = page.getByRole("combobox", { name: "Filter devices" });
  await filter.focus();
  await search("no");
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Search or jump to" }).waitFor({ state: "detached" });
  await page.keyboard.type("name");
  expect(await filter.inputValue()).toBe("name");
  expect(complaints).toEqual([]);
});

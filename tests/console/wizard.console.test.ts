import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What the wizard of a rollout says before it is created.

const browser = useBrowser();
const prefix = uniqueName("who");
let login: Login;
let page: Page;
let complaints: string[];
let set: number;

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
  const admin = adminOf(login);
  await makeDevices(admin, prefix, 7);
  set = (await makeSet(admin)).id;
});

const steps = () => page.getByRole("navigation", { name: "Steps" });

test("a query is completed and built in the wizard, which stays at its step", async () => {
  await openPage(page, login.baseUrl, `/rollouts/new?step=who&set=${set}`);
  const field = page.getByRole("combobox", { name: "Devices", exact: true });
  await field.fill("contr");
  await page.getByRole("option", { name: "controllerid", exact: true }).waitFor();
  await field.press("ArrowDown");
  await field.press("Enter");
  expect(await field.inputValue()).toBe("controllerid");
  await page.getByText(/expected an operator/).waitFor();
  expect(await axe(page)).toEqual([]);
  await field.fill(`controllerid==${prefix}-*`);
  await page.keyboard.press("Escape");
  await page.getByText("7 devices will be updated").waitFor();

  await page.getByRole("button", { name: "Build", exact: true }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Build a filter" });
  await dialog.getByLabel("Value").fill(`${prefix}-000`);
  await dialog.locator("button[type=submit]").press("Enter");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => field.inputValue()).toBe(`controllerid==${prefix}-000`);
  expect(await steps().locator("[aria-current=step]").textContent()).toContain("Who");
  await page.getByText("1 device will be updated").waitFor();
});

test("groups say what they do, and which of them are empty; a step that was not seen is not ticked", async () => {
  const q = encodeURIComponent(`controllerid==${prefix}-*`);
  await openPage(page, login.baseUrl, `/rollouts/new?step=who&set=${set}&q=${q}`);
  expect(await steps().getByText("✓").count()).toBe(0);
  await page.getByRole("button", { name: "Next", exact: true }).press("Enter");
  await page.getByText("Takes 5 % of the devices. The next group begins when 90 % have installed it.").waitFor();
  await page.getByText("Takes all the rest.").waitFor();
  await page.getByText("No device: a share of so few is none.").waitFor();
  expect(await steps().getByRole("button").allTextContents()).toEqual(["1What", "✓Who", "3How far, how fast", "4When", "5Plan"]);
  await page.getByRole("button", { name: "Remove canary" }).press("Enter");
  await page.getByText("Takes 25 % of the devices.").waitFor();
  await page.getByText("No device").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

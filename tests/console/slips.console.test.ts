import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { type Login, openPage } from "./support/browser.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What a slip must not cost: the page that one reads, and what one has typed.

const browser = useBrowser();
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
});

const dialog = () => page.getByRole("dialog");
const press = (name: string) => page.getByRole("button", { name, exact: true }).first().press("Enter");
const unsaved = () => page.getByRole("alert").getByText("What you have typed is not saved.");
const path = () => new URL(page.url()).pathname;

test("the way past the navigation leads into the page, which stays", async () => {
  await openPage(page, login.baseUrl, "/settings/tags?q=nothing");
  const before = page.url();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  expect(page.url()).toBe(before);
});

test("what was typed into a dialog is not lost by Escape, by going back or by a reload", async () => {
  await openPage(page, login.baseUrl, "/settings/tags");
  await page.getByRole("link", { name: "Roles", exact: true }).press("Enter");
  await press("New role");
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });

  await press("New role");
  const name = dialog().getByLabel("Name");
  await name.pressSequentially("typed");
  await page.keyboard.press("Escape");
  await unsaved().waitFor();
  expect(await axe(page, "[role=dialog]")).toEqual([]);
  await dialog().getByRole("button", { name: "Go on typing" }).press("Enter");
  await unsaved().waitFor({ state: "detached" });
  expect(await name.inputValue()).toBe("typed");

  await page.evaluate(() => history.back());
  await unsaved().waitFor();
  await dialog().getByRole("button", { name: "Go on typing" }).press("Enter");
  expect(await name.inputValue()).toBe("typed");
  expect(path()).toMatch(/settings\/roles$/);

  const asked = page.waitForEvent("dialog");
  void page.evaluate(() => location.reload());
  const question = await asked;
  expect(question.type()).toBe("beforeunload");
  await question.dismiss();
  expect(await name.inputValue()).toBe("typed");

  await page.keyboard.press("Escape");
  await dialog().getByRole("button", { name: "Discard it" }).press("Enter");
  await dialog().waitFor({ state: "detached" });
  await press("New role");
  expect(await name.inputValue()).toBe("");
  await name.fill(uniqueName("kept"));
  await press("Create");
  await page.getByRole("dialog", { name: /Permissions of/ }).waitFor();
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What a slip must not cost: the page that one reads, what one has typed, and a module that one has chosen.

const browser = useBrowser();
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
});

const admin = () => adminOf(login);
const dialog = () => page.getByRole("dialog");
const press = (name: string) => page.getByRole("button", { name, exact: true }).first().press("Enter");
const unsaved = () => page.getByRole("alert").getByText("What you have typed is not saved.");
const path = () => new URL(page.url()).pathname;

/** Makes modules of a type and answers their numbers. */
async function makeModules(type: string, ...names: string[]): Promise<number[]> {
  const made = await admin().post<{ id: number }[]>(
    "softwaremodules",
    names.map((name) => ({ name, version: "1", type })),
  );
  return made.map(({ id }) => id);
}

const modulesOf = async (name: string) => {
  const { content } = await admin().get<{ content: { modules: { name: string }[] }[] }>(`distributionsets?q=name==${name}`);
  return content[0]?.modules.map((module) => module.name);
};

test("the way past the navigation leads into the page, which stays", async () => {
  await openPage(page, login.baseUrl, "/settings/tags?q=nothing");
  const before = page.url();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  expect(page.url()).toBe(before);
});

test("a new set takes one module of a type of one, and offers what its type takes", async () => {
  const [one, other, app, name] = [uniqueName("one"), uniqueName("other"), uniqueName("app"), uniqueName("set")];
  await makeModules("os", one, other);
  await makeModules("application", app);
  await openPage(page, login.baseUrl, "/software");
  await press("New set");
  await dialog().getByLabel("Name").fill(name);
  await dialog().getByLabel("Version").fill("1");
  await dialog().getByLabel("Type").selectOption({ label: "OS with app(s)" });
  await dialog().getByRole("radio", { name: one }).press("Space");
  await dialog().getByRole("radio", { name: other }).press("Space");
  expect(await dialog().getByRole("radio", { name: one }).isChecked()).toBe(false);
  await dialog().getByRole("checkbox", { name: app }).press("Space");
  expect(await axe(page, "[role=dialog]")).toEqual([]);
  await dialog().getByLabel("Type").selectOption({ label: "App(s) only" });
  await dialog().getByRole("radio").first().waitFor({ state: "detached" });
  await dialog().getByLabel("Type").selectOption({ label: "OS only" });
  await dialog().getByRole("radio", { name: other }).waitFor();
  expect(await dialog().getByRole("checkbox").count()).toBe(0);
  await press("Create");
  await page.getByRole("heading", { level: 1, name: `${name} 1` }).waitFor();
  expect(await modulesOf(name)).toEqual([other]);

  await press("Add a module");
  await dialog()
    .getByLabel("Modules")
    .selectOption({ label: `${one} 1 — OS` });
  await dialog().getByText(`It replaces ${other} 1`).waitFor();
  await dialog().getByRole("button", { name: "Replace the module" }).press("Enter");
  await dialog().waitFor({ state: "detached" });
  expect(await modulesOf(name)).toEqual([one]);

  await openPage(page, login.baseUrl, "/software");
  await press("New set");
  await dialog().getByLabel("Name").fill(name);
  await dialog().getByLabel("Version").fill("1");
  await dialog().getByLabel("Type").selectOption({ label: "OS only" });
  await press("Create");
  await dialog().getByText(`There is a set ${name} 1 already`).waitFor();
  await dialog().getByRole("button", { name: "Cancel" }).press("Enter");
  await dialog().waitFor({ state: "detached" });
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

test("a changed setting is not lost by leaving its page, and its button is seen without scrolling", async () => {
  await openPage(page, login.baseUrl, "/settings/tags");
  await page.getByRole("link", { name: "General", exact: true }).press("Enter");
  const main = page.locator("main");
  const approval = main.getByRole("checkbox", { name: "Rollouts need an approval: On", exact: true });
  await approval.press("Space");
  await main.getByText("1 change is not saved").waitFor();
  const button = await main.getByRole("button", { name: "Save", exact: true }).boundingBox();
  expect((button?.y ?? 10_000) + (button?.height ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
  await page.getByRole("link", { name: "Polling", exact: true }).press("Enter");
  await unsaved().waitFor();
  expect(await axe(page)).toEqual([]);
  await main.getByRole("button", { name: "Go on typing" }).press("Enter");
  expect(path()).toMatch(/settings\/general$/);
  expect(await approval.isChecked()).toBe(true);
  await main.getByRole("button", { name: "Save", exact: true }).press("Enter");
  await main.getByText("1 change is not saved").waitFor({ state: "detached" });
  expect(await admin().get("system/configs/rollout.approval.enabled")).toMatchObject({ value: true });

  await approval.press("Space");
  await page.getByRole("link", { name: "Polling", exact: true }).press("Enter");
  await main.getByRole("button", { name: "Discard it" }).press("Enter");
  await main.getByText("Time between polls", { exact: true }).first().waitFor();
  expect(path()).toMatch(/settings\/polling$/);
  expect(await admin().get("system/configs/rollout.approval.enabled")).toMatchObject({ value: true });
  expect(complaints).toEqual([]);
});

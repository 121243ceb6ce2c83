import { readFileSync } from "node:fs";
import { runFleet } from "@harrier/simulator";
import { startTestStack, uniqueName } from "@harrier/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signIn, startBrowser, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";

let stack: Awaited<ReturnType<typeof startTestStack>>;
let browser: Browser;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startTestStack(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Goes on with the Tab key until this element has the focus; a person would look where it is. */
async function tabTo(page: Page, role: "button" | "link" | "textbox" | "combobox" | "radio", name: string | RegExp): Promise<void> {
  const wanted = page.getByRole(role, typeof name === "string" ? { name, exact: true } : { name }).first();
  await wanted.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the Tab key does not reach ${role} ${name}`);
}

async function press(page: Page, role: "button" | "link", name: string | RegExp): Promise<void> {
  await tabTo(page, role, name);
  await page.keyboard.press("Enter");
}

async function type(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, "textbox", name);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

test("a rollout is planned, created, started and watched to its end by keyboard alone", async () => {
  const admin = adminOf(stack);
  const prefix = uniqueName("key");
  const set = await makeSet(admin);
  const devices = await makeDevices(admin, prefix, 20);
  const { page, complaints, context } = await visit(browser);
  await signIn(page, stack.baseUrl, stack.adminPassword);

  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await press(page, "link", "New rollout");
  await type(page, "Name", prefix);
  await tabTo(page, "combobox", "Distribution set");
  await page.keyboard.type(`${set.name} 1.0`);
  await press(page, "button", "Next");
  await type(page, "Devices", `controllerid==${prefix}-*`);
  await page.getByText("20 devices will be updated").waitFor();
  await press(page, "button", "Next");
  await press(page, "button", "Next");
  await press(page, "button", "Next");
  await press(page, "button", "Create rollout");
  await page.getByRole("heading", { name: prefix }).waitFor();
  await page.getByRole("button", { name: "Start", disabled: false }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Start" }).getAttribute("aria-disabled"), { timeout: 15_000 }).toBeNull();
  await press(page, "button", "Start");
  await page.getByRole("alertdialog").waitFor();
  await tabTo(page, "button", "Start");
  await page.keyboard.press("Enter");

  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 1, fail: 0 });
  try {
    await expect.poll(async () => page.locator("main header").textContent(), { timeout: 60_000 }).toContain("Finished");
  } finally {
    await fleet.stop();
  }
  // what is seen is what another client reads
  const { content } = await admin.get<{ content: { status: string }[] }>(`rollouts?q=name==${prefix}`);
  expect(content[0]?.status).toBe("finished");
  expect(complaints).toEqual([]);
  await context.close();
});

test("no test of this file uses a mouse", () => {
  const text = readFileSync(new URL(import.meta.url), "utf8");
  expect(text.match(/\.(click|hover|tap|check|dragTo|selectOption)\(/g)).toBeNull();
});

test("too many failures pause a rollout, and the page says why and what devices said", async () => {
  const admin = adminOf(stack);
  const prefix = uniqueName("fails");
  const set = await makeSet(admin);
  const devices = await makeDevices(admin, prefix, 10);
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name: prefix,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${prefix}-*`,
    amountGroups: 2,
    successCondition: { condition: "THRESHOLD", expression: "90" },
    errorCondition: { condition: "THRESHOLD", expression: "10" },
  });
  await expect.poll(async () => (await admin.get<{ status: string }>(`rollouts/${rollout.id}`)).status).toBe("ready");
  await admin.post(`rollouts/${rollout.id}/start`);
  const { page, complaints, context } = await visit(browser);
  await signIn(page, stack.baseUrl, stack.adminPassword);
  await page.goto(`${stack.baseUrl}/console/rollouts/${rollout.id}`);
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 1, fail: 1 });
  try {
    await page.getByText(/too many failed/).waitFor({ timeout: 60_000 });
  } finally {
    await fleet.stop();
  }
  await page.goto(`${stack.baseUrl}/console/rollouts/${rollout.id}?tab=failures`);
  await page
    .getByRole("link", { name: new RegExp(`^${prefix}-`) })
    .first()
    .waitFor({ timeout: 30_000 });
  expect(complaints).toEqual([]);
  await context.close();
});

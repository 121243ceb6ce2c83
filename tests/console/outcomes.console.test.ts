import { createDevice, uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test, vi } from "vitest";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What somebody sees of an update that did not go well, and of one that has not begun: nowhere is it a success, or nothing.

const limit = { timeout: 60_000 };
const browser = useBrowser();
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
});

const admin = () => adminOf(login);
const statusOf = async (id: number) => (await admin().get<{ status: string }>(`rollouts/${id}`)).status;

/** Makes a rollout over new devices and starts it. */
async function started(name: string, devices: number, groups: number) {
  const made = await makeDevices(admin(), name, devices);
  const set = await makeSet(admin());
  const { id } = await admin().post<{ id: number }>("rollouts", {
    name,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${name}-*`,
    amountGroups: groups,
    successCondition: { condition: "THRESHOLD", expression: "100" },
    errorCondition: { condition: "THRESHOLD", expression: "20" },
  });
  await vi.waitFor(async () => expect(await statusOf(id)).toBe("ready"), limit);
  await admin().post(`rollouts/${id}/start`);
  await vi.waitFor(async () => expect(await statusOf(id)).toBe("running"), limit);
  return { id, set, devices: made };
}

/** Reports how the open update of a device has ended. */
async function report(device: { controllerId: string; token: string }, finished: "success" | "failure"): Promise<void> {
  const open = `targets/${device.controllerId}/actions?q=active==true`;
  const [action] = (await admin().get<{ content: { id: number }[] }>(open)).content;
  const tenant = login.user.split("\\")[0] ?? "";
  expect((await createDevice({ baseUrl: login.baseUrl, tenant, ...device }).report(action?.id ?? 0, "closed", finished)).status).toBe(200);
}

test("a rollout that ends by too many failures is no success, and its devices say what failed", async () => {
  const name = uniqueName("ends");
  const { id, set, devices } = await started(name, 3, 1);
  const [first, second, third] = devices;
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are no three devices");
  await report(first, "success");
  await report(second, "failure");
  await report(third, "failure");
  await vi.waitFor(async () => expect(await statusOf(id)).toBe("finished"), limit);

  await openPage(page, login.baseUrl, `/rollouts/${id}`);
  await page.locator("main header").getByText("Finished, too many failed").waitFor(limit);
  await page.getByText("more than 20 % failed").waitFor();
  await openPage(page, login.baseUrl, "/rollouts");
  await page.getByRole("row").filter({ hasText: name }).getByText("Finished, too many failed").waitFor();

  await openPage(page, login.baseUrl, `/devices/${second.controllerId}`);
  await page.getByRole("heading", { name: `${set.name} 1.0 failed` }).waitFor();
  expect(await page.getByText("No update is open").count()).toBe(0);
  await page.getByRole("button", { name: "Try again", exact: true }).waitFor();
  await page.getByRole("tabpanel").getByRole("link", { name, exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1, name }).waitFor();

  await openPage(page, login.baseUrl, "/");
  const needs = page.getByRole("listitem");
  await needs.filter({ hasText: `${name} finished, but too many devices failed` }).waitFor();
  // Devices are counted in the background, so that the number comes a little later.
  const failed = needs.filter({ hasText: "The last update of 2 devices failed" });
  await failed.waitFor(limit);
  await failed.getByRole("link", { name: "Look" }).press("Enter");
  await expect.poll(() => page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount")).toBe("3");
  expect(complaints).toEqual([]);
});

test("a retry says whom it is for, is not urged where all have moved on, and is made but once", async () => {
  const name = uniqueName("moves");
  const { id, devices } = await started(name, 2, 1);
  for (const device of devices) await report(device, "failure");
  await vi.waitFor(async () => expect(await statusOf(id)).toBe("finished"), limit);
  const retry = () => page.locator("main header").getByRole("button", { name: /^Retry the failed/ });
  const background = () => retry().evaluate((button) => getComputedStyle(button).backgroundColor);
  await openPage(page, login.baseUrl, `/rollouts/${id}`);
  const urged = await background();

  const other = await makeSet(admin());
  for (const device of devices) {
    await admin().post(`targets/${device.controllerId}/assignedDS`, { id: other.id, type: "forced" });
    await report(device, "success");
  }
  await openPage(page, login.baseUrl, `/rollouts/${id}`);
  await expect.poll(background, limit).not.toBe(urged);
  await retry().press("Enter");
  const question = page.getByRole("alertdialog");
  await question.getByText("2 of them have had another update since").waitFor();
  await question.getByRole("button", { name: "Retry the failed", exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1, name: `${name}_retry` }).waitFor(limit);

  await openPage(page, login.baseUrl, `/rollouts/${id}`);
  await expect.poll(() => retry().getAttribute("data-why"), limit).toBe("There is a retry of this rollout already");
  expect(complaints).toEqual([]);
});

test("a device that waits for its group says in which, and that the rollout is paused", async () => {
  const name = uniqueName("waits");
  const { id, devices } = await started(name, 2, 2);
  await admin().post(`rollouts/${id}/pause`);
  const q = encodeURIComponent(`rollout.id==${id};detailstatus==scheduled`);
  const waiting = async () => (await admin().get<{ content: { target: { controllerId: string } }[] }>(`actions?q=${q}`)).content;
  await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), limit);
  const controllerId = (await waiting())[0]?.target.controllerId ?? "";
  expect(devices.map((device) => device.controllerId)).toContain(controllerId);

  await openPage(page, login.baseUrl, `/devices/${controllerId}`);
  const waits = page.getByRole("tabpanel").getByText(`Waits in group-2 of rollout ${name}`);
  await waits.filter({ hasText: "Paused" }).waitFor(limit);
  expect(await page.getByText("No update is open").count()).toBe(0);
  await waits.getByRole("link", { name: "group-2" }).press("Enter");
  await expect.poll(() => page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount")).toBe("2");

  await openPage(page, login.baseUrl, `/devices/${controllerId}?tab=history`);
  await page
    .locator("summary")
    .filter({ hasText: `rollout ${name}` })
    .waitFor();
  expect(complaints).toEqual([]);
});

import { createDevice, uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices, makeMany, makeSet } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What is changed from the pages of one device, of many devices and of software; what came of it is what another client reads.

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
async function save(button = "Save"): Promise<void> {
  await dialog().getByRole("button", { name: button, exact: true }).press("Enter");
  await dialog().waitFor({ state: "detached" });
}
async function confirm(button: string): Promise<void> {
  await press(button);
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: button, exact: true }).press("Enter");
  await question.waitFor({ state: "detached" });
}

test("a device gets a type and tags on its page, and loses them", async () => {
  const name = uniqueName("kind");
  await admin().post("targettypes", [{ key: name, name }]);
  await admin().post("targettags", [{ name: `${name}-one` }, { name: `${name}-two` }]);
  await admin().post("targets", [{ controllerId: name }]);
  await openPage(page, login.baseUrl, `/devices/${name}`);
  await press("Set type");
  await dialog().getByLabel("Type").selectOption({ label: name });
  await save();
  const typeOf = async () => (await admin().get<{ targetTypeName?: string }>(`targets/${name}`)).targetTypeName;
  expect(await typeOf()).toBe(name);
  await press("Set tags");
  await dialog().getByLabel(`${name}-one`).press("Space");
  await dialog().getByLabel(`${name}-two`).press("Space");
  await save();
  const tagsOf = async () => (await admin().get<{ name: string }[]>(`targets/${name}/tags`)).map((tag) => tag.name).toSorted();
  expect(await tagsOf()).toEqual([`${name}-one`, `${name}-two`]);
  await page.locator("main").getByText(`${name}-two`).waitFor();
  await press("Set tags");
  await dialog().getByLabel(`${name}-two`).press("Space");
  await save();
  expect(await tagsOf()).toEqual([`${name}-one`]);
  await press("Set type");
  await dialog().getByLabel("Type").selectOption({ label: "No type" });
  await save();
  expect(await typeOf()).toBeUndefined();
});

test("a failed update is tried again from the history of its device, once", async () => {
  const prefix = uniqueName("again");
  const [made] = await makeDevices(admin(), prefix, 1);
  const set = await makeSet(admin());
  const controllerId = made?.controllerId ?? "";
  await admin().post(`targets/${controllerId}/assignedDS`, { id: set.id, type: "forced" });
  const tenant = login.user.split("\\")[0] ?? "";
  const device = createDevice({ baseUrl: login.baseUrl, tenant, controllerId, token: made?.token ?? "" });
  const actions = async () =>
    (await admin().get<{ content: { id: number; detailStatus: string }[] }>(`targets/${controllerId}/actions?sort=id:DESC`)).content;
  const [first] = await actions();
  expect((await device.report(first?.id ?? 0, "closed", "failure")).status).toBe(200);
  expect((await actions())[0]?.detailStatus).toBe("error");
  await openPage(page, login.baseUrl, `/devices/${controllerId}?tab=history`);
  await page.locator("summary").first().press("Enter");
  await confirm("Try again");
  await expect.poll(async () => (await actions()).map(({ detailStatus }) => detailStatus)).toEqual(["running", "error"]);
  // What has a successor is not tried again.
  await openPage(page, login.baseUrl, `/devices/${controllerId}?tab=history`);
  await page.locator("summary").last().press("Enter");
  await page.locator("details[open] p").first().waitFor();
  expect(await page.getByRole("button", { name: "Try again", exact: true }).count()).toBe(0);
});

test("all devices that match are changed without being listed, and those that cannot be are named", async () => {
  const prefix = uniqueName("many");
  await makeDevices(admin(), prefix, 14);
  const [tag] = await admin().post<{ id: number; name: string }[]>("targettags", [{ name: prefix }]);
  const [type] = await admin().post<{ id: number }[]>("targettypes", [{ key: prefix, name: prefix }]);
  const set = await makeSet(admin());
  const q = `controllerid==${prefix}-*`;
  const count = async (more: string) => (await admin().get<{ total: number }>(`targets?limit=1&q=${encodeURIComponent(more)}`)).total;
  const chooseAll = async () => {
    await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(q)}`);
    await page.getByRole("checkbox", { name: `Choose ${prefix}-000` }).press("Space");
    await press("Choose all 14 that match");
  };
  const done = () => page.getByText("Done: 14 of 14 devices changed.");
  await chooseAll();
  await press("Change");
  await dialog().getByLabel("Tag").selectOption({ label: prefix });
  await save("Do it");
  await done().waitFor();
  expect(await count(`tag==${prefix}`)).toBe(14);

  await press("Change");
  await dialog().getByLabel("What to do").selectOption({ label: "Take a tag away" });
  await dialog().getByLabel("Tag", { exact: true }).selectOption(String(tag?.id));
  await save("Do it");
  await expect.poll(() => count(`tag==${prefix}`)).toBe(0);

  // One of them is of a type that takes no set of this type.
  await admin().post(`targets/${prefix}-003/targettype`, { id: type?.id });
  await chooseAll();
  await press("Assign software");
  await dialog().getByLabel("Distribution set").selectOption(String(set.id));
  expect(await dialog().getByRole("button", { name: "Do it" }).getAttribute("data-why")).toBe("Type 14 first");
  await dialog().getByLabel("Type 14 to confirm").fill("14");
  await save("Do it");
  await page.getByText("1 device was not reached:").waitFor();
  await page.getByText("is of a type that the set is not for").waitFor();
  expect(await count(`${q};assignedds.id==${set.id}`)).toBe(13);

  await press("Change");
  await dialog().getByLabel("What to do").selectOption({ label: "Cancel open updates" });
  await dialog().getByLabel("Type 14 to confirm").fill("14");
  await save("Do it");
  const cancelling = async () =>
    (await admin().get<{ total: number }>(`actions?limit=1&q=${encodeURIComponent(`target.${q};detailstatus==canceling`)}`)).total;
  await expect.poll(cancelling).toBe(13);
  expect(complaints).toEqual([]);
});

test("all devices that match get a type and lose it, ask for attributes, and are deleted only by their number as it is now", async () => {
  const prefix = uniqueName("bulk");
  await makeDevices(admin(), prefix, 12);
  await admin().post("targettypes", [{ key: prefix, name: prefix }]);
  const q = `controllerid==${prefix}-*`;
  const count = async (more: string) => (await admin().get<{ total: number }>(`targets?limit=1&q=${encodeURIComponent(more)}`)).total;
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(q)}`);
  await page.getByRole("checkbox", { name: `Choose ${prefix}-000` }).press("Space");
  await press("Choose all 12 that match");
  const bulk = async (what: string, choose?: string) => {
    await press("Change");
    await dialog().getByLabel("What to do").selectOption({ label: what });
    if (choose !== undefined) await dialog().getByLabel("Type", { exact: true }).selectOption({ label: choose });
    await save("Do it");
  };
  await bulk("Set the type", prefix);
  await expect.poll(() => count(`${q};targettype.key==${prefix}`)).toBe(12);
  await bulk("Take the type away");
  await expect.poll(() => count(`${q};targettype.key==${prefix}`)).toBe(0);
  await bulk("Ask for attributes");
  await page.getByText("Done: 12 of 12 devices changed.").waitFor();

  // One more matches than is shown: what was confirmed is no longer true, and nothing is deleted. The page hears of it too late, as on a slow line.
  const counted = (url: URL) => url.pathname.endsWith("/targets") && url.searchParams.get("limit") === "1";
  await page.route(counted, () => undefined);
  await admin().post("targets", [{ controllerId: `${prefix}-late` }]);
  await press("Delete");
  const question = page.getByRole("alertdialog");
  await question.getByRole("textbox").fill("12");
  await question.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await question.getByRole("alert").waitFor();
  expect(await count(q)).toBe(13);
  await page.unroute(counted);
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(q)}`);
  await page.getByRole("checkbox", { name: `Choose ${prefix}-000` }).press("Space");
  await press("Choose all 13 that match");
  await press("Delete");
  await question.getByRole("textbox").fill("13");
  await question.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await question.waitFor({ state: "detached" });
  await expect.poll(() => count(q)).toBe(0);
  expect(complaints).toEqual([]);
});

test("more than a thousand devices are deleted in the background, and the page says how far that is", async () => {
  const prefix = uniqueName("gone");
  await makeMany(admin(), prefix, 1_001);
  const q = `controllerid==${prefix}-*`;
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(q)}`);
  await page
    .getByRole("checkbox", { name: `Choose ${prefix}-` })
    .first()
    .press("Space");
  await press("Choose all 1,001 that match");
  await press("Delete");
  const question = page.getByRole("alertdialog");
  await question.getByRole("textbox").fill("1001");
  await question.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await question.waitFor({ state: "detached" });
  await page.getByText("Done: 1,001 of 1,001 devices deleted.").waitFor({ timeout: 60_000 });
  expect((await admin().get<{ total: number }>(`targets?limit=1&q=${encodeURIComponent(q)}`)).total).toBe(0);
  expect(complaints).toEqual([]);
});

test("a choice of software that was not sent is not there the next time", async () => {
  const [prefix, set] = [uniqueName("left"), await makeSet(admin())];
  await makeDevices(admin(), prefix, 1);
  await openPage(page, login.baseUrl, `/devices?q=${encodeURIComponent(`controllerid==${prefix}-*`)}`);
  await page.getByRole("checkbox", { name: `Choose ${prefix}-000` }).press("Space");
  await press("Assign software");
  await dialog().getByLabel("Distribution set").selectOption(String(set.id));
  await dialog().getByRole("button", { name: "Cancel", exact: true }).press("Enter");
  await dialog().waitFor({ state: "detached" });
  await press("Assign software");
  expect(await dialog().getByLabel("Distribution set").inputValue()).toBe("");
  expect(complaints).toEqual([]);
});

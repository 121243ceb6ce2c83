import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What can be changed of software after it was made, and that nobody overwrites another's change of it.

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
async function save(): Promise<void> {
  await dialog().getByRole("button", { name: "Save", exact: true }).press("Enter");
  await dialog().waitFor({ state: "detached" });
}
/** What was typed is sent, which somebody else's change refuses; then it is shown anew and can be sent again. */
async function refused(): Promise<void> {
  await dialog().getByRole("button", { name: "Save", exact: true }).press("Enter");
  await dialog().getByText("Somebody has changed this meanwhile").waitFor();
  await dialog().getByRole("button", { name: "Show it as it is now" }).press("Enter");
  await dialog().getByText("This is how it is now").waitFor();
}
/** What another person changes meanwhile. */
async function put(path: string, body: unknown): Promise<void> {
  expect((await admin().call(path, { method: "PUT", body })).status).toBeLessThan(300);
}

test("a set is changed, and not over what somebody else has changed meanwhile", async () => {
  const { id } = await makeSet(admin());
  const name = uniqueName("renamed");
  await openPage(page, login.baseUrl, `/software/sets/${id}`);
  await press("Edit");
  await dialog().getByLabel("Name").fill(name);
  await dialog().getByLabel("A required step").check();
  await put(`distributionsets/${id}`, { description: "theirs" });
  await refused();
  expect(await dialog().getByLabel("Description").inputValue()).toBe("theirs");
  expect(await axe(page, "[role=dialog]")).toEqual([]);
  await save();
  expect(await admin().get(`distributionsets/${id}`)).toMatchObject({ name, description: "theirs", requiredMigrationStep: true });
  await page.getByRole("heading", { level: 1, name }).waitFor();
});

test("a module is changed, and not over what somebody else has changed meanwhile", async () => {
  await makeSet(admin());
  const { content } = await admin().get<{ content: { id: number }[] }>("softwaremodules?sort=id:DESC&limit=1");
  const path = `softwaremodules/${content[0]?.id}`;
  await openPage(page, login.baseUrl, `/software/modules/${content[0]?.id}`);
  await press("Edit");
  await dialog().getByLabel("Vendor").fill("ours");
  await put(path, { description: "theirs" });
  await refused();
  await save();
  expect(await admin().get(path)).toMatchObject({ vendor: "ours", description: "theirs" });
  await page.getByText("ours", { exact: true }).waitFor();
});

test.each(["sets", "modules"] as const)("metadata of %s are added, changed and deleted", async (kind) => {
  const set = await makeSet(admin());
  const { content } = await admin().get<{ content: { id: number }[] }>("softwaremodules?sort=id:DESC&limit=1");
  const id = kind === "sets" ? set.id : content[0]?.id;
  const path = `${kind === "sets" ? "distributionsets" : "softwaremodules"}/${id}/metadata`;
  await openPage(page, login.baseUrl, `/software/${kind}/${id}`);
  await press("Add metadata");
  await dialog().getByLabel("Key").fill("ticket");
  await dialog().getByLabel("Value").fill("42");
  if (kind === "modules") await dialog().getByLabel("Send it to devices").check();
  await save();
  await page.getByRole("cell", { name: "ticket", exact: true }).waitFor();
  expect(await admin().get(`${path}/ticket`)).toMatchObject({ value: "42", ...(kind === "modules" && { targetVisible: true }) });

  await press("Edit: ticket");
  await dialog().getByLabel("Value").fill("43");
  await put(`${path}/ticket`, { value: "theirs" });
  await refused();
  expect(await dialog().getByLabel("Value").inputValue()).toBe("43");
  await save();
  expect(await admin().get(`${path}/ticket`)).toMatchObject({ value: "43", ...(kind === "modules" && { targetVisible: true }) });
  expect(await axe(page)).toEqual([]);

  await page.getByRole("row").filter({ hasText: "ticket" }).getByRole("button", { name: "Delete" }).press("Enter");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await page.getByRole("cell", { name: "ticket", exact: true }).waitFor({ state: "detached" });
  expect((await admin().call(`${path}/ticket`)).status).toBe(404);
  expect(complaints).toEqual([]);
});

test("a set gets a tag and loses it, and the list of sets shows those that have it", async () => {
  const [tag, other] = [uniqueName("stable"), uniqueName("other")];
  const made = await admin().post<{ id: number }[]>("distributionsettags", [{ name: tag }, { name: other }]);
  const tagged = await makeSet(admin());
  const idsOf = async (index: number) => {
    const { content } = await admin().get<{ content: { id: number }[] }>(`distributionsettags/${made[index]?.id}/assigned`);
    return content.map(({ id }) => id);
  };
  const tags = page.getByRole("region", { name: "Tags", exact: true });
  await openPage(page, login.baseUrl, `/software/sets/${tagged.id}`);
  await tags.getByText("It has no tag.").waitFor();
  await press("Set tags");
  await dialog().getByRole("checkbox", { name: tag }).press("Space");
  await save();
  await tags.getByText(tag, { exact: true }).waitFor();
  expect(await idsOf(0)).toEqual([tagged.id]);
  expect(await idsOf(1)).toEqual([]);

  await openPage(page, login.baseUrl, "/software");
  await page.getByLabel("Tag").selectOption(tag);
  const rows = () => page.getByRole("grid").getAttribute("aria-rowcount");
  await expect.poll(rows).toBe("2");
  await page.getByRole("grid").getByText(tagged.name).first().waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe(`tag==${tag}`);
  await page.reload();
  await expect.poll(rows).toBe("2");
  expect(await page.getByLabel("Tag").inputValue()).toBe(tag);
  await page.getByLabel("Find by name").fill("nothing");
  await page.getByLabel("Find by name").press("Enter");
  await page.getByText("Nothing matches").waitFor();

  await openPage(page, login.baseUrl, `/software/sets/${tagged.id}`);
  await press("Set tags");
  await dialog().getByRole("checkbox", { name: tag }).press("Space");
  await save();
  await tags.getByText("It has no tag.").waitFor();
  expect(await idsOf(0)).toEqual([]);
});

test("two sets are compared by what they hold, and what is the same can be left out", async () => {
  const [first, second] = [await makeSet(admin()), await makeSet(admin())];
  const shared = (
    await admin().post<{ id: number }[]>("softwaremodules", [{ name: uniqueName("tool"), version: "7", type: "application" }])
  )[0];
  const sets = await admin().post<{ id: number; name: string }[]>("distributionsets", [
    { name: uniqueName("left"), version: "1", type: "os_app", modules: [{ id: await moduleOf(first.id) }, { id: shared?.id }] },
    { name: uniqueName("right"), version: "2", type: "os_app", modules: [{ id: shared?.id }, { id: await moduleOf(second.id) }] },
  ]);
  const [left, right] = sets as [{ id: number; name: string }, { id: number; name: string }];
  await openPage(page, login.baseUrl, `/software/sets/${left.id}`);
  await page.getByRole("link", { name: "Compare", exact: true }).press("Enter");
  await page.getByLabel("Second set").selectOption(String(right.id));
  const table = page.getByRole("table", { name: "Compare two sets" });
  const row = (...texts: string[]) => texts.reduce((rows, hasText) => rows.filter({ hasText }), table.getByRole("row"));
  await row(`${first.name} 1.0`, `${second.name} 1.0`, "changed").waitFor();
  await row(`File ${first.name}.bin`, "only in the first").waitFor();
  await row(`File ${second.name}.bin`, "only in the second").waitFor();
  await row("application", "same").or(row("Application", "same")).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.getByLabel("Only what differs").press("Space");
  await expect.poll(() => row("same").count()).toBe(0);
  await page.reload();
  await row(`File ${second.name}.bin`, "only in the second").waitFor();
  expect(await row("same").count()).toBe(0);

  // The other way round what only the first had is what only the second has.
  await press("Swap");
  await row(`File ${second.name}.bin`, "only in the first").waitFor();
  await page.getByLabel("Second set").selectOption(String(right.id));
  await page.getByText("Both sets hold the same modules and files.").waitFor();
  expect(complaints).toEqual([]);
});

/** The module of a set that has one. */
async function moduleOf(setId: number): Promise<number | undefined> {
  const { modules } = await admin().get<{ modules: { id: number }[] }>(`distributionsets/${setId}`);
  return modules[0]?.id;
}

test("what is counted about a set leads to the list that was counted", async () => {
  const set = await makeSet(admin());
  const [device] = await makeDevices(admin(), uniqueName("user"), 1);
  await admin().post(`targets/${device?.controllerId}/assignedDS`, { id: set.id });
  await openPage(page, login.baseUrl, `/software/sets/${set.id}`);
  const use = page.getByRole("region", { name: "Use", exact: true });
  await use.getByRole("link", { name: "1 device", exact: true }).press("Enter");
  await page
    .getByRole("grid", { name: "Devices" })
    .getByText(device?.controllerId ?? "")
    .first()
    .waitFor();
  await page.goBack();
  await use.getByRole("link", { name: "running 1", exact: true }).press("Enter");
  await page
    .getByRole("grid")
    .getByText(device?.controllerId ?? "")
    .first()
    .waitFor();

  const [empty] = await admin().post<{ id: number }[]>("distributionsets", [{ name: uniqueName("empty"), version: "1", type: "os" }]);
  await openPage(page, login.baseUrl, `/software/sets/${empty?.id}`);
  await use.getByText("Missing").waitFor();
  await use.getByText("OS", { exact: true }).last().waitFor();
});

test("a set is made of a module on its page, which then names the sets that hold it", async () => {
  const name = uniqueName("alone");
  const [module] = await admin().post<{ id: number }[]>("softwaremodules", [{ name, version: "1.0", type: "os" }]);
  await openPage(page, login.baseUrl, `/software/modules/${module?.id}`);
  await page.getByText("None yet: devices get a module by a set that holds it.").waitFor();
  await page.locator("main header").getByText("No files yet").waitFor();
  await press("New set of this module");
  expect(await dialog().getByLabel("Name").inputValue()).toBe(name);
  await dialog().getByLabel("Type").selectOption("os");
  expect(
    await dialog()
      .getByRole("radio", { name: `${name} 1.0` })
      .isChecked(),
  ).toBe(true);
  await dialog().getByRole("button", { name: "Create", exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1, name: `${name} 1.0` }).waitFor();
  await page.waitForURL(/\/software\/sets\//);
  await openPage(page, login.baseUrl, `/software/modules/${module?.id}`);
  await page
    .getByRole("main")
    .getByRole("link", { name: `${name} 1.0`, exact: true })
    .press("Enter");
  await page.waitForURL(/\/software\/sets\//);
  expect(complaints).toEqual([]);
});

test("an upload that began elsewhere is shown with who began it and how far it is, and is given up", async () => {
  const [module] = await admin().post<{ id: number }[]>("softwaremodules", [{ name: uniqueName("shared"), version: "1.0", type: "os" }]);
  const path = `softwaremodules/${module?.id}/artifacts/uploads`;
  const { id } = await admin().post<{ id: string }>(path, { filename: "pipeline.swu", size: 9_440_000 });
  await openPage(page, login.baseUrl, `/software/modules/${module?.id}`);
  await page.getByRole("heading", { name: "Uploads that began elsewhere" }).waitFor();
  await page.getByText(/^0 B of 9\.44 MB are stored, begun by \S+/).waitFor();
  await press("Give up");
  const question = page.getByRole("alertdialog", { name: "Give up the upload of pipeline.swu?" });
  await question.getByRole("button", { name: "Give up" }).click();
  await expect.poll(() => page.getByText("pipeline.swu").count()).toBe(0);
  expect((await admin().call(`${path}/${id}`)).status).toBe(404);
});

import { type Admin, uniqueName } from "@harrier/testkit";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { haveSession, type Login, openPage, type Visit, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { makeTenant, operator, useBrowser } from "./support/suite.ts";

// What opens over a page, or comes and goes in it, is for people who cannot see it too: dialogs, questions, search, keys, notes, and the steps of a new rollout.

const browser = useBrowser();
const name = uniqueName("over");
const ids: Record<string, string> = {};
let login: Login;
let seen: Visit;

beforeAll(async () => {
  login = await makeTenant();
  const admin = adminOf(login);
  const set = await makeSet(admin, name);
  const [device] = await makeDevices(admin, name, 3);
  const query = `controllerid==${name}-*`;
  const rolloutOf = (by: Admin, title: string) =>
    by.post<{ id: number }>("rollouts", { name: title, distributionSetId: set.id, targetFilterQuery: query, amountGroups: 2 });
  const rollout = await rolloutOf(admin, name);
  // What somebody makes who may not approve it waits.
  await admin.configure("rollout.approval.enabled", true);
  const maker = { name: `${name}-maker`, password: "a long password" };
  await admin.post("users", [
    { ...maker, permissions: ["READ_TARGET", "UPDATE_TARGET", "READ_REPOSITORY", "READ_ROLLOUT", "CREATE_ROLLOUT"] },
  ]);
  const user = `${login.user.split("\\")[0]}\\${maker.name}`;
  await rolloutOf(adminOf({ ...login, user, password: maker.password }), `${name}-asks`);
  await admin.post(`targets/${device?.controllerId}/assignedDS`, [{ id: set.id, type: "soft" }]);
  await admin.post(`targets/${device?.controllerId}/metadata`, [{ key: "place", value: "here" }]);
  const filter = await admin.post<{ id: number }>("targetfilters", { name, query });
  const given = await admin.post<{ id: number }>("targetfilters", { name: `${name}-given`, query: "name==nobody" });
  await admin.post(`targetfilters/${given.id}/autoAssignDS`, { id: set.id });
  await admin.post("targettypes", [{ key: `${name}-type`, name: `${name}-type` }]);
  await admin.post("targettags", [{ name: `${name}-tag`, colour: "teal" }]);
  await admin.post("users", [{ name: `${name}-user`, password: "a long password", permissions: ["READ_TARGET"] }]);
  await admin.post("roles", { name: `${name}-role`, permissions: [{ permission: "READ_TARGET" }] });
  await admin.post("api-keys/dsi", { name: `${name}-key`, expiresAt: Date.now() + 86_400_000 });
  const modules = await admin.get<{ content: { id: number }[] }>(`softwaremodules?q=name==${name}`);
  const known = { rollout: rollout.id, set: set.id, filter: filter.id, given: given.id, module: modules.content[0]?.id };
  Object.assign(ids, known, { device: device?.controllerId });
  seen = await visit(browser());
  await haveSession(seen, login);
});

const filled = (text: string) => text.replaceAll(/\{([a-z]+)\}/g, (_, key: string) => String(ids[key] ?? key));
const overlays = "[role=dialog], [role=alertdialog]";
const overlay = (page: Page) => page.locator(overlays).last();

/** A page, and the buttons on it that open something. */
const openers: readonly (readonly [path: string, buttons: readonly string[]])[] = [
  ["/devices", ["Add device", "Build", "API"]],
  ["/devices/{device}", ["Assign software", "Edit", "Delete", "Force", "Cancel update"]],
  ["/devices/{device}?tab=metadata", ["Add metadata", "Edit: place"]],
  ["/devices/{device}?tab=access", ["Make a new token"]],
  ["/rollouts/{rollout}", ["Start", "Stop", "Delete"]],
  ["/rollouts/{rollout}?tab=definition", ["Edit"]],
  ["/approvals", ["Approve", "Deny"]],
  ["/software", ["New set"]],
  ["/software?tab=modules", ["New module"]],
  ["/software/sets/{set}", ["Set tags", "Invalidate", "Delete"]],
  ["/software/modules/{module}", ["Delete"]],
  ["/auto-assign", ["New filter", "Delete"]],
  ["/filters/{filter}", ["Turn on", "Delete"]],
  ["/filters/{given}", ["Change", "Turn off"]],
  ["/settings/users", ["New user", "Permissions", "Sessions", "Password", "Delete"]],
  ["/settings/roles", ["New role", "Permissions", "Delete"]],
  ["/settings/keys", ["New device key", "Edit", "Delete"]],
  ["/settings/clients", ["New OAuth client"]],
  ["/settings/webhooks", ["New webhook"]],
  ["/settings/types", ["New type", "Edit", "Delete"]],
  ["/settings/tags", ["New tag", "Edit", "Delete"]],
  ["/settings/sign-in", ["Reset"]],
  ["/me", ["End"]],
];

/** A page, and the part of its document that is looked at while something is open over it: by itself only what is open. */
interface Looked {
  readonly page: Page;
  readonly part?: string;
}

/** What is wrong with what a button has opened; it is closed again. */
async function faultsOf({ page, part = overlays }: Looked, opener: Locator): Promise<string[]> {
  await opener.press("Enter");
  const opened = overlay(page);
  await opened.waitFor();
  const found = await axe(page, part);
  await page.keyboard.press("Escape");
  await opened.waitFor({ state: "detached" });
  return found;
}

async function faultsOfAll(looked: Looked, path: string, buttons: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const button of buttons) {
    const opener = looked.page.locator("main").getByRole("button", { name: button, exact: true }).first();
    found.push(...(await faultsOf(looked, opener)).map((text) => `${path} ${button} ${text}`));
  }
  return found;
}

test.each(openers)("nothing is wrong with what opens on %s", async (path, buttons) => {
  const { page, complaints } = seen;
  await openPage(page, login.baseUrl, filled(path));
  expect(await faultsOfAll(seen, path, buttons)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("nothing is wrong with what the operator opens", async () => {
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, operator());
  await openPage(page, login.baseUrl, `/system?q=${login.user.split("\\")[0]}`);
  // The page behind them is the same however many open over it: here it is looked at with each of them.
  const whole = await faultsOfAll({ page, part: "html" }, "/system", ["New tenant", "Edit", "Quotas", "Suspend", "Delete"]);
  expect(whole).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("nothing is wrong with chosen devices, their questions, and the note that comes of it", async () => {
  const { page, complaints } = seen;
  await openPage(page, login.baseUrl, "/devices");
  await page.getByText(`${name}-000`).first().waitFor();
  await page.getByRole("grid", { name: "Devices" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  await page.getByText("1 device chosen").waitFor();
  const found = [...(await axe(page)), ...(await faultsOfAll(seen, "chosen", ["Assign software", "Change", "Delete"]))];
  await page.locator("main").getByRole("button", { name: "Change", exact: true }).press("Enter");
  await overlay(page)
    .getByLabel("Tag")
    .selectOption({ label: `${name}-tag` });
  await overlay(page).getByRole("button", { name: "Do it", exact: true }).press("Enter");
  await page.getByText("Done: 1 of 1 devices changed.").waitFor();
  expect([...found, ...(await axe(page))]).toEqual([]);
  expect(complaints).toEqual([]);
});

test("nothing is wrong with the columns, the search, and the keys", async () => {
  const { page, complaints } = seen;
  const found: string[] = [];
  await openPage(page, login.baseUrl, "/devices");
  await page.locator("summary", { hasText: "Columns" }).press("Enter");
  await page.getByRole("checkbox", { name: "Address" }).waitFor();
  found.push(...(await axe(page)).map((text) => `columns ${text}`));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).waitFor();
  found.push(...(await axe(page, overlays)).map((text) => `search ${text}`));
  await page.keyboard.type(name);
  await page.getByRole("option").first().waitFor();
  await page.getByText(`${name}-000`).first().waitFor();
  found.push(...(await axe(page, overlays)).map((text) => `found ${text}`));
  await page.keyboard.press("Escape");
  await overlay(page).waitFor({ state: "detached" });
  await page.locator("main").focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys of the console" }).waitFor();
  found.push(...(await axe(page, overlays)).map((text) => `keys ${text}`));
  await page.keyboard.press("Escape");
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
});

test("nothing is wrong with any step of a new rollout, and with what they say of a mistake", async () => {
  const { page, complaints } = seen;
  const found: string[] = [];
  for (const step of ["what", "who", "how", "when"]) {
    await openPage(page, login.baseUrl, `/rollouts/new?step=${step}`);
    await page.getByRole("button", { name: "Next", exact: true }).waitFor();
    found.push(...(await axe(page)).map((text) => `${step} ${text}`));
  }
  await openPage(page, login.baseUrl, "/rollouts/new?step=what");
  await page.getByRole("button", { name: "Next", exact: true }).press("Enter");
  await page.getByRole("alert").getByText("Give it a name").waitFor();
  found.push(...(await axe(page)).map((text) => `mistake ${text}`));
  await openPage(page, login.baseUrl, `/rollouts/new?step=plan&set=${ids["set"]}&q=${encodeURIComponent(`controllerid==${name}-*`)}`);
  await page.getByText("3 devices will be updated").waitFor();
  found.push(...(await axe(page)).map((text) => `plan ${text}`));
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
});

import { basic, createDevice, uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { haveSession, type Login, openPage, visit } from "./support/browser.ts";
import { adminOf, makeSet } from "./support/fleet.ts";
import { operator, useBrowser, visitTenant } from "./support/suite.ts";

// Two people at the same thing: nobody overwrites what the other has changed meanwhile, approves what they have not seen, or drops what a form does not show.

const browser = useBrowser();
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
});

const admin = () => adminOf(login);
/** What another person changes meanwhile. */
async function put(path: string, body: unknown): Promise<void> {
  expect((await admin().call(path, { method: "PUT", body })).status).toBeLessThan(300);
}
const dialog = () => page.getByRole("dialog");
const question = () => page.getByRole("alertdialog");
/** What was typed is sent, which somebody else's change refuses; then it is shown anew and sent again. */
async function saveTwice(what: ReturnType<typeof dialog>, button: string): Promise<void> {
  await what.getByRole("button", { name: button, exact: true }).press("Enter");
  await what.getByText("Somebody has changed this meanwhile").waitFor();
  await what.getByRole("button", { name: "Show it as it is now" }).press("Enter");
  await what.getByText("This is how it is now").waitFor();
}
async function save(what: ReturnType<typeof dialog>, button = "Save"): Promise<void> {
  await what.getByRole("button", { name: button, exact: true }).press("Enter");
  await what.waitFor({ state: "detached" });
}
const press = (name: string) => page.getByRole("button", { name, exact: true }).first().press("Enter");

test("another set for an auto-assignment keeps its policy, window, start, description and pause", async () => {
  const [one, other] = [await makeSet(admin()), await makeSet(admin())];
  const name = uniqueName("kept");
  const filter = await admin().post<{ id: number }>("targetfilters", { name, query: "name==nobody" });
  const startAt = Date.now() + 3_600_000;
  const safety = { limits: { installingSeconds: 3_600 } };
  const of = { name, targetFilterQuery: "name==nobody", distributionSetId: one.id, startAt, description: "of the field", safety };
  const made = await admin().post<{ id: number; safety: object }>("autoassignments", of);
  expect(made.id).toBe(filter.id);
  await admin().post(`autoassignments/${made.id}/start`);
  await admin().post(`autoassignments/${made.id}/pause`);
  await openPage(page, login.baseUrl, `/filters/${filter.id}`);
  await press("Change");
  await dialog().getByText("Stays as it is: Safety policy").waitFor();
  await dialog().getByLabel("Distribution set").selectOption(String(other.id));
  await save(dialog());
  const now = await admin().get<{ safety: object }>(`autoassignments/${made.id}`);
  expect(now).toMatchObject({ distributionSetId: other.id, startAt, description: "of the field", status: "paused" });
  expect(now.safety).toEqual(made.safety);
});

test("a link that is refused after the rest was saved is said as it is, and the next try sends what is left", async () => {
  const name = uniqueName("linked");
  const [type] = await admin().post<{ id: number }[]>("targettypes", [{ key: name, name }]);
  await openPage(page, login.baseUrl, `/settings/types?q=${name}`);
  await press("Edit");
  await dialog().getByLabel("Description").fill("saved first");
  await dialog().getByRole("checkbox").first().press("Space");
  const links = "**/compatibledistributionsettypes";
  const refusal = { status: 409, headers: { "content-type": "application/json" }, body: JSON.stringify({ message: "Not now." }) };
  await page.route(links, (route) => (route.request().method() === "POST" ? route.fulfill(refusal) : route.continue()));
  await dialog().getByRole("button", { name: "Save", exact: true }).press("Enter");
  await dialog().getByText("Not now.").waitFor();
  expect(await admin().get(`targettypes/${type?.id}`)).toMatchObject({ description: "saved first" });
  await page.unroute(links);
  await save(dialog());
  expect(await admin().get(`targettypes/${type?.id}/compatibledistributionsettypes`)).toHaveLength(1);
});

test("what another has changed meanwhile is not overwritten, and what was typed stays", async () => {
  const name = uniqueName("tag");
  const [tag] = await admin().post<{ id: number }[]>("targettags", [{ name, description: "mine", colour: "#ff0000" }]);
  await openPage(page, login.baseUrl, `/settings/tags?q=${name}`);
  await press("Edit");
  await dialog().getByLabel("Colour").fill("");
  await put(`targettags/${tag?.id}`, { description: "theirs" });
  await saveTwice(dialog(), "Save");
  expect(await dialog().getByLabel("Description").inputValue()).toBe("theirs");
  expect(await dialog().getByLabel("Colour").inputValue()).toBe("");
  await save(dialog());
  const now = await admin().get<{ colour?: string }>(`targettags/${tag?.id}`);
  expect(now).toMatchObject({ name, description: "theirs" });
  expect(now.colour ?? "").toBe("");
});

test("a permission that another has granted meanwhile stays granted", async () => {
  const name = uniqueName("role");
  const [role] = await admin().post<{ id: number }[]>("roles", [{ name, permissions: [{ permission: "READ_TARGET" }] }]);
  await openPage(page, login.baseUrl, `/settings/roles?q=${name}`);
  await press("Permissions");
  await dialog().getByText("READ_ROLLOUT", { exact: false }).first().waitFor();
  await dialog()
    .getByRole("checkbox", { name: /READ_ROLLOUT(?!\w)/ })
    .first()
    .press("Space");
  const theirs = ["READ_TARGET", "READ_REPOSITORY"].map((permission) => ({ permission }));
  await put(`roles/${role?.id}/permissions`, theirs);
  await saveTwice(dialog(), "Save");
  await save(dialog());
  const now = await admin().get<{ permission: string }[]>(`roles/${role?.id}/permissions`);
  expect(now.map(({ permission }) => permission).toSorted()).toEqual(["READ_REPOSITORY", "READ_ROLLOUT", "READ_TARGET"]);
});

test("settings and metadata that another has changed meanwhile are shown before they are overwritten", async () => {
  await openPage(page, login.baseUrl, "/settings/polling");
  const main = page.locator("main");
  await main.getByLabel("Time between polls", { exact: true }).fill("00:07:00");
  await admin().configure("pollingOverdueTime", "00:09:00");
  await saveTwice(main, "Save");
  expect(await main.getByLabel("Overdue after", { exact: true }).inputValue()).toBe("00:09:00");
  expect(await main.getByLabel("Time between polls", { exact: true }).inputValue()).toBe("00:07:00");
  await main.getByRole("button", { name: "Save", exact: true }).press("Enter");
  const settingOf = async (key: string) => (await admin().get<{ value: string }>(`system/configs/${key}`)).value;
  await expect.poll(() => settingOf("pollingTime")).toBe("00:07:00");
  expect(await settingOf("pollingOverdueTime")).toBe("00:09:00");

  const controllerId = uniqueName("noted");
  await admin().post("targets", [{ controllerId }]);
  await admin().post(`targets/${controllerId}/metadata`, [{ key: "place", value: "mine" }]);
  await openPage(page, login.baseUrl, `/devices/${controllerId}?tab=metadata`);
  await press("Edit: place");
  await dialog().getByLabel("Value").fill("hall 4");
  await put(`targets/${controllerId}/metadata/place`, { value: "theirs" });
  await saveTwice(dialog(), "Save");
  expect(await dialog().getByLabel("Value").inputValue()).toBe("hall 4");
  await save(dialog());
  expect(await admin().get(`targets/${controllerId}/metadata/place`)).toMatchObject({ value: "hall 4" });
});

test("a device that was added cannot sign in until somebody allows tokens, which its page says and does", async () => {
  const controllerId = uniqueName("new");
  await openPage(page, login.baseUrl, "/devices");
  await press("Add device");
  await dialog().getByLabel("Controller id").fill(controllerId);
  await dialog().getByRole("button", { name: "Add", exact: true }).press("Enter");
  const connects = page.getByRole("dialog", { name: `How ${controllerId} connects` });
  await connects.getByText(`${login.baseUrl}/${login.user.split("\\")[0]}/controller/v1/${controllerId}`, { exact: true }).waitFor();
  expect(await axe(page, "[role=dialog]")).toEqual([]);
  await save(connects, "To the device");
  await page.getByText("authentication.targettoken.enabled").waitFor();
  const { securityToken: token } = await admin().get<{ securityToken: string }>(`targets/${controllerId}`);
  const device = createDevice({ baseUrl: login.baseUrl, tenant: login.user.split("\\")[0] ?? "", controllerId, token });
  expect((await device.call("")).status).toBe(401);
  await press("Let devices sign in with their tokens");
  await page.getByText("authentication.targettoken.enabled").waitFor({ state: "detached" });
  await expect.poll(async () => (await device.call("")).status).toBe(200);
});

test("a limit that another operator has set meanwhile is shown before it is overwritten", async () => {
  const operators = adminOf(operator());
  const tenant = login.user.split("\\")[0];
  const visited = await visit(browser());
  await haveSession(visited, operator());
  const own = visited.page;
  const limits = `system/tenants/${tenant}/quotas/METADATA_PER_TARGET_MAX_COUNT`;
  await openPage(own, login.baseUrl, `/system?q=${tenant}`);
  await own.getByRole("button", { name: "Quotas", exact: true }).press("Enter");
  await own.getByRole("button", { name: "Edit: Metadata of a device" }).press("Enter");
  const form = own.getByRole("dialog", { name: /^Limit: / });
  await form.getByLabel("Limit", { exact: true }).fill("71");
  expect((await operators.call(limits, { method: "PUT", body: { limit: 72 } })).status).toBe(200);
  await saveTwice(form, "Save");
  await form.getByText("It is 72 now.").waitFor();
  await save(form);
  expect(await operators.get(limits)).toMatchObject({ limit: 71 });
  expect(visited.complaints).toEqual([]);
  await visited.context.close();
});

test("who approves sees set, devices and their number, and approves that alone", async () => {
  const admins = admin();
  const set = await makeSet(admins);
  const name = uniqueName("asks");
  await admins.configure("rollout.approval.enabled", true);
  const [user, password] = [uniqueName("planner"), "a password of a planner"];
  const permissions = ["CREATE_ROLLOUT", "READ_ROLLOUT", "READ_TARGET", "UPDATE_TARGET", "READ_REPOSITORY"];
  await admins.post("users", [{ name: user, password, permissions }]);
  const targets = [1, 2, 3].map((index) => ({ controllerId: `${name}-${index}` }));
  await admins.post("targets", targets);
  const body = { name, distributionSetId: set.id, targetFilterQuery: `controllerid==${name}-*`, amountGroups: 1 };
  const answer = await fetch(`${login.baseUrl}/api/mgmt/v1/rollouts`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: basic(`${login.user.split("\\")[0]}\\${user}`, password) },
    body: JSON.stringify(body),
  });
  const { id } = (await answer.json()) as { id: number };
  const status = async () => (await admins.get<{ status: string }>(`rollouts/${id}`)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe("waiting_for_approval");
  await openPage(page, login.baseUrl, "/approvals");
  await page.getByRole("region", { name }).getByRole("button", { name: "Approve" }).press("Enter");
  await question().getByText(body.targetFilterQuery).waitFor();
  expect(await question().textContent()).toMatch(new RegExp(`${set.name} 1.0.*Number of devices3`));
  await put(`rollouts/${id}`, { name: `${name} anew` });
  await saveTwice(question(), "Approve");
  await question().getByText(`${name} anew`).waitFor();
  expect(await status()).toBe("waiting_for_approval");
  await save(question(), "Approve");
  await expect.poll(status).toBe("ready");
  expect(complaints).toEqual([]);
});

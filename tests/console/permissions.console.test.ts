import { uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { haveSession, type Login, openPage, type Visit, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { makeTenant, useBrowser } from "./support/suite.ts";

// What a user may not do stays where it is with its reason, what may not be read is not in the navigation, and the server refuses the call itself.

interface Known {
  readonly name: string;
  readonly implies?: readonly string[];
}

const browser = useBrowser();
let login: Login;
let known: readonly Known[];
let pages: Record<keyof typeof paths, string>;
let all: Visit;

const paths = {
  devices: "/devices",
  device: "/devices/{device}",
  access: "/devices/{device}?tab=access",
  metadata: "/devices/{device}?tab=metadata",
  rollouts: "/rollouts",
  plan: "/rollouts/new?step=plan",
  rollout: "/rollouts/{rollout}",
  definition: "/rollouts/{rollout}?tab=definition",
  software: "/software",
  set: "/software/sets/{set}",
  module: "/software/modules/{module}",
  signIn: "/settings/sign-in",
  settings: "/settings",
};

beforeAll(async () => {
  login = await makeTenant();
  const admin = adminOf(login);
  known = (await admin.get<Known[]>("permissions")).filter(({ name }) => name !== "SYSTEM_ADMIN");
  const prefix = uniqueName("may");
  const set = await makeSet(admin);
  const [device] = await makeDevices(admin, prefix, 2);
  await admin.post(`targets/${device?.controllerId}/metadata`, [{ key: "place", value: "hall" }]);
  const body = { name: prefix, distributionSetId: set.id, targetFilterQuery: `controllerid==${prefix}-*`, amountGroups: 1 };
  const rollout = await admin.post<{ id: number }>("rollouts", body);
  const { content } = await admin.get<{ content: { id: number }[] }>("softwaremodules");
  const ids: Record<string, unknown> = { device: device?.controllerId, rollout: rollout.id, set: set.id, module: content[0]?.id };
  pages = Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, path.replace(/\{(\w+)\}/, (_, id: string) => String(ids[id]))]),
  ) as typeof pages;
  all = await signedInWith(known.map(({ name }) => name));
});
afterAll(() => all?.context.close());

/** A user of the tenant with these permissions, in a browser of its own. */
async function signedInWith(permissions: readonly string[]): Promise<Visit> {
  const [user, password] = [uniqueName("user"), "a password for pages"];
  await adminOf(login).post("users", [{ name: user, password, permissions }]);
  const visited = await visit(browser());
  const tenant = login.user.split("\\")[0];
  await haveSession(visited, { ...login, user: `${tenant}\\${user}`, password });
  return visited;
}

/** Everybody else's permissions: without this one, and without those that it comes with. */
const without = (permission: string) =>
  known.filter(({ name, implies = [] }) => name !== permission && !implies.includes(permission)).map(({ name }) => name);

/** Why controls cannot be used; one whose name does not say so once, for readers of screens, is shown with its name. */
const reasonsOf = (seen: Visit) =>
  seen.page
    .locator("[aria-disabled=true][data-why]")
    .evaluateAll((found) =>
      found.map((one) => {
        const [why, name] = [one.getAttribute("data-why") ?? "", one.ariaLabel ?? one.textContent ?? ""];
        return name.split(why).length === 2 ? why : `not once in the name "${name}": ${why}`;
      }),
    )
    .then((reasons) => reasons.join("\n"));
const linksOf = (seen: Visit) =>
  seen.page.locator("nav a[href]").evaluateAll((found) => found.map((one) => new URL((one as HTMLAnchorElement).href).pathname));
const textOf = async (seen: Visit) => (await seen.page.locator("main").textContent()) ?? "";

const callOf = (seen: Visit, method: string, path: string) =>
  seen.page.evaluate(
    async ([how, where]) => {
      const headers = { "content-type": "application/json", "x-harrier-console": "1" };
      return (await fetch(`/api/mgmt/v1/${where}`, { method: how, headers, ...(how === "GET" ? {} : { body: "[]" }) })).status;
    },
    [method, path] as const,
  );

type Where = keyof typeof paths;

/** A page on which a control names the permission that it lacks, and a call that is refused. */
const controls: [permission: string, page: Where, method: string, path: string][] = [
  ["CREATE_TARGET", "devices", "POST", "targets"],
  ["UPDATE_TARGET", "device", "POST", "targets/none/assignedDS"],
  ["UPDATE_TARGET", "metadata", "POST", "targets/none/metadata"],
  ["DELETE_TARGET", "device", "DELETE", "targets/none"],
  ["CREATE_REPOSITORY", "software", "POST", "softwaremodules"],
  ["UPDATE_REPOSITORY", "set", "POST", "distributionsets/999/assignedSM"],
  ["DELETE_REPOSITORY", "module", "DELETE", "softwaremodules/999"],
  ["CREATE_ROLLOUT", "rollouts", "POST", "rollouts"],
  ["CREATE_ROLLOUT", "set", "POST", "rollouts"],
  ["UPDATE_ROLLOUT", "definition", "PUT", "rollouts/999"],
  ["HANDLE_ROLLOUT", "rollout", "POST", "rollouts/999/start"],
  ["DELETE_ROLLOUT", "rollout", "DELETE", "rollouts/999"],
  ["TENANT_CONFIGURATION", "settings", "PUT", "system/configs"],
];

/** A page that shows a thing to whoever holds the permission, and says or leaves out that thing for others. */
const texts: [permission: string, page: Where, others: RegExp, method: string, path: string][] = [
  ["CREATE_ROLLOUT", "plan", /Needs the permission CREATE_ROLLOUT/, "POST", "rollouts"],
  ["READ_TARGET_SECURITY_TOKEN", "access", /needs READ_TARGET_SECURITY_TOKEN/, "GET", ""],
  ["READ_GATEWAY_SECURITY_TOKEN", "signIn", /READ_GATEWAY_SECURITY_TOKEN/, "GET", "system/configs/authentication.gatewaytoken.key"],
  ["DOWNLOAD_REPOSITORY_ARTIFACT", "module", /DOWNLOAD_REPOSITORY_ARTIFACT/, "GET", "softwaremodules/{module}/artifacts/1/download"],
];

/** A place that is not in the navigation, what the page says to whoever types its address, and the call that it would begin with. */
const places: [permission: string, page: string, method: string, path: string][] = [
  ["READ_TARGET", "/devices", "GET", "targets"],
  ["READ_REPOSITORY", "/software", "GET", "distributionsets"],
  ["READ_ROLLOUT", "/rollouts", "GET", "rollouts"],
  ["APPROVE_ROLLOUT", "/approvals", "POST", "rollouts/999/approve"],
  ["READ_TENANT_CONFIGURATION", "/settings/quotas", "GET", "system/configs"],
  ["USER_MANAGEMENT", "/audit", "GET", "audit"],
  ["ROLE_MANAGEMENT", "/settings/roles", "GET", "roles"],
  ["API_KEY", "/settings/keys", "GET", "api-keys/dsi"],
];

test("every permission of a tenant is in this walk", () => {
  const walked = [...controls, ...texts, ...places].map(([name]) => name);
  expect([...new Set(walked)].toSorted()).toEqual(known.map(({ name }) => name).toSorted());
});

test("whoever holds every permission finds no control that lacks one", async () => {
  const found: string[] = [];
  for (const path of Object.values(pages)) {
    await openPage(all.page, login.baseUrl, path);
    const [reasons, text] = [await reasonsOf(all), await textOf(all)];
    for (const { name } of known) if (`${reasons} ${text}`.includes(` ${name}`)) found.push(`${name} at ${path}`);
  }
  expect(found).toEqual([]);
  expect(all.complaints).toEqual([]);
});

test.each(controls)("without %s a control says why it cannot be used, and the call is refused", async (permission, where, method, path) => {
  const seen = await signedInWith(without(permission));
  await openPage(seen.page, login.baseUrl, pages[where]);
  const reasons = await reasonsOf(seen);
  expect(reasons).toContain(permission);
  expect(reasons).not.toContain("not once in the name");
  expect(await callOf(seen, method, path)).toBe(403);
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test.each(texts)("without %s its page says so in the place of what it would show", async (permission, where, others, method, path) => {
  const seen = await signedInWith(without(permission));
  await openPage(seen.page, login.baseUrl, pages[where]);
  await seen.page.locator("main").getByText(others).first().waitFor();
  if (path !== "") expect(await callOf(seen, method, path.replace("{module}", pages.module.split("/").at(-1) ?? ""))).toBe(403);
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test.each(places)("without %s %s is not in the navigation, says why, and its call is refused", async (permission, path, method, call) => {
  await openPage(all.page, login.baseUrl, path);
  expect(await linksOf(all)).toContain(`/console${path}`);
  const seen = await signedInWith(without(permission));
  await openPage(seen.page, login.baseUrl, path);
  await seen.page.locator("main").getByText(permission).first().waitFor();
  expect(await linksOf(seen)).not.toContain(`/console${path}`);
  expect(await callOf(seen, method, call)).toBe(403);
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test("the token of a device is in no answer to whoever may not read it", async () => {
  const tokenOf = ({ page }: Visit, path: string) =>
    page.evaluate(async (where) => ((await (await fetch(where)).json()) as { securityToken?: string }).securityToken, path);
  const path = `/api/mgmt/v1/targets/${new URL(pages.device, login.baseUrl).pathname.split("/").at(-1)}`;
  const seen = await signedInWith(without("READ_TARGET_SECURITY_TOKEN"));
  for (const one of [all, seen]) await openPage(one.page, login.baseUrl, "/me");
  expect(await tokenOf(all, path)).toMatch(/^\w{16,}/);
  expect(await tokenOf(seen, path)).toBeUndefined();
  await seen.context.close();
});

test("who is restricted to a type of devices reads that every number counts those alone", async () => {
  const name = uniqueName("type");
  const [type] = await adminOf(login).post<{ id: number }[]>("targettypes", [{ key: name, name }]);
  const controllerId = uniqueName("typed");
  await adminOf(login).post("targets", [{ controllerId, targetType: type?.id }]);
  const [user, password] = [uniqueName("user"), "a password for pages"];
  const [made] = await adminOf(login).post<{ id: number }[]>("users", [{ name: user, password }]);
  const body = [{ permission: "READ_TARGET", targetTypeScopes: [type?.id] }];
  expect((await adminOf(login).call(`users/${made?.id}/permissions`, { method: "PUT", body })).status).toBeLessThan(300);
  const seen = await visit(browser());
  await haveSession(seen, { ...login, user: `${login.user.split("\\")[0]}\\${user}`, password });
  for (const path of ["/devices", "/"]) {
    await openPage(seen.page, login.baseUrl, path);
    await seen.page.getByText(`You see only devices of these types, and every number counts only them: ${name}.`).waitFor();
  }
  await openPage(seen.page, login.baseUrl, "/devices");
  await expect.poll(() => seen.page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount")).toBe("2");
  await openPage(all.page, login.baseUrl, "/devices");
  expect(await all.page.getByText("You see only devices of these types").count()).toBe(0);
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test("the overview says nothing of what its user may not see", async () => {
  const seen = await signedInWith(["USER_MANAGEMENT"]);
  await openPage(seen.page, login.baseUrl, "/");
  await seen.page.getByText("Nothing that you may see needs you").waitFor();
  await seen.page.getByText("You may not see rollouts and devices, so nothing is said of them.").waitFor();
  expect(await textOf(seen)).not.toContain("every device");
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test("the search leads to no part of the settings, and to no setting, that its user may not see", async () => {
  const jumps = async (one: Visit, text: string) => {
    await openPage(one.page, login.baseUrl, "/me");
    await one.page.keyboard.press("Control+k");
    await one.page.getByRole("combobox", { name: "Search or jump to" }).fill(text);
    const option = one.page.getByRole("option");
    await option.first().or(one.page.getByText("Nothing found")).waitFor();
    return option.allTextContents();
  };
  const seen = await signedInWith(["READ_TARGET"]);
  for (const [text, line] of [
    ["roles", "RolesSettings"],
    ["overdue", "Overdue after"],
  ] as const) {
    expect(await jumps(all, text)).toEqual([line]);
    expect(await jumps(seen, text)).toEqual([]);
  }
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test("nobody of a tenant sees the tenants of the installation", async () => {
  await openPage(all.page, login.baseUrl, "/system/tenants");
  await all.page.locator("main").getByText("SYSTEM_ADMIN").first().waitFor();
  expect(await linksOf(all)).not.toContain("/console/system/tenants");
  expect(await callOf(all, "POST", "system/tenants")).toBe(403);
});

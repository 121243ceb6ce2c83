import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { runFleet } from "@harrier/simulator";
import { basic, uniqueName } from "@harrier/testkit";
import type { FileChooser, Locator, Page } from "playwright-core";
import { beforeAll, expect, test, vi } from "vitest";
import { haveSession, type Login, openPage, signIn, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { makeTenant, useBrowser } from "./support/suite.ts";

const browser = useBrowser();
let login: Login;
let tenant: string;
/** A rollout to devices that never come; what its policy says of them takes a minute, while the other tests run. */
let quiet: { id: number; name: string; devices: number };

async function startQuietly(): Promise<typeof quiet> {
  const admin = adminOf(login);
  const name = uniqueName("quiet");
  const set = await makeSet(admin);
  const devices = (await makeDevices(admin, name, 3)).length;
  const { id } = await admin.post<{ id: number }>("rollouts", {
    name,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${name}-*`,
    amountGroups: 1,
    safety: { limits: { notFetchedSeconds: 60, count: "none" } },
  });
  await vi.waitFor(async () => expect((await admin.call(`rollouts/${id}/start`, { method: "POST" })).status).toBeLessThan(300), limit);
  return { id, name, devices };
}

beforeAll(async () => {
  login = await makeTenant();
  tenant = login.user.split("\\")[0] ?? "";
  quiet = await startQuietly();
});

/** A busy machine takes its time with two hundred devices. */
const limit = { timeout: 240_000 };

type Role = "button" | "link" | "textbox" | "combobox" | "tab" | "radio" | "grid";

/** Goes on with the Tab key until this element has the focus; a person would look where it is. */
async function tabTo(page: Page, role: Role, name: string | RegExp): Promise<Locator> {
  const wanted = page.getByRole(role, typeof name === "string" ? { name, exact: true } : { name }).first();
  await wanted.waitFor();
  for (let presses = 0; presses < 120; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return wanted;
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

async function choose(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, "combobox", name);
  await page.keyboard.type(text);
}

/** The two keys that lead to a page. */
async function goTo(page: Page, key: string, title: string): Promise<void> {
  await page.locator("main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press(key);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

/** Makes a module with a file, and a set of it; what the server then has is what was chosen. */
async function makeSoftware(page: Page, name: string): Promise<void> {
  // The browser is told of this on another way than of keys, so that right before the key would be too late on a busy machine.
  const chooser = new Promise<FileChooser>((resolve) => page.once("filechooser", resolve));
  await goTo(page, "s", "Software");
  await tabTo(page, "tab", "Distribution sets");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await press(page, "button", "New module");
  await type(page, "Name", name);
  await type(page, "Version", "1.0");
  await choose(page, "Type", "OS");
  await press(page, "button", "Create");
  await page.getByRole("heading", { level: 1, name: `${name} 1.0` }).waitFor();
  const file = randomBytes(3_000_000);
  await tabTo(page, "button", "Choose a file");
  await page.keyboard.press("Space");
  await (await chooser).setFiles({ name: `${name}.bin`, mimeType: "application/octet-stream", buffer: file });
  await page.getByText("Both have the same SHA-256").waitFor();
  const hash = createHash("sha256").update(file).digest("hex");
  expect(await page.locator("main").textContent()).toContain(hash);
  const { content } = await adminOf(login).get<{ content: { id: number }[] }>(`softwaremodules?q=name==${name}`);
  const artifacts = await adminOf(login).get<{ id: number; hashes: { sha256: string } }[]>(`softwaremodules/${content[0]?.id}/artifacts`);
  expect(artifacts.map(({ hashes }) => hashes.sha256)).toEqual([hash]);
  const path = `softwaremodules/${content[0]?.id}/artifacts/${artifacts[0]?.id}/download`;
  const [user, password] = [login.user, login.password];
  const answer = await fetch(`${login.baseUrl}/api/mgmt/v1/${path}`, { headers: { authorization: basic(user, password) } });
  expect(
    createHash("sha256")
      .update(new Uint8Array(await answer.arrayBuffer()))
      .digest("hex"),
  ).toBe(hash);

  await goTo(page, "s", "Software");
  await press(page, "button", "New set");
  await type(page, "Name", name);
  await type(page, "Version", "1.0");
  await choose(page, "Type", "OS only");
  await tabTo(page, "radio", new RegExp(name));
  await page.keyboard.press("Space");
  await press(page, "button", "Create");
  await page.getByRole("heading", { level: 1, name: `${name} 1.0` }).waitFor();
}

/** Answers the question of a step; the page follows the server. */
async function step(page: Page, name: string): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  await expect.poll(() => button.first().getAttribute("aria-disabled"), limit).toBeNull();
  await press(page, "button", name);
  await page.getByRole("alertdialog").waitFor();
  await tabTo(page, "button", name);
  await page.keyboard.press("Enter");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
}

const shows = (page: Page, state: string) => expect.poll(() => page.locator("main header").textContent(), limit).toContain(state);

test("from software to the history of a device by keyboard alone", { timeout: 600_000 }, async () => {
  const admin = adminOf(login);
  const prefix = uniqueName("key");
  const devices = await makeDevices(admin, prefix, 200);
  const { page, complaints, context } = await visit(browser());
  await signIn(page, login);
  await makeSoftware(page, prefix);

  await goTo(page, "r", "Rollouts");
  await press(page, "link", "New rollout");
  await type(page, "Name", prefix);
  await choose(page, "Distribution set", `${prefix} 1.0`);
  await press(page, "button", "Next");
  await choose(page, "Devices", `controllerid==${prefix}-*`);
  await page.keyboard.press("Escape"); // what completes it is not wanted
  await page.getByText("200 devices will be updated").waitFor();
  await press(page, "button", "Next");
  await press(page, "button", "Next");
  await press(page, "button", "Next");
  await press(page, "button", "Create rollout");
  await page.getByRole("heading", { name: prefix, level: 1 }).waitFor();
  await step(page, "Start");
  const fleet = runFleet({ baseUrl: login.baseUrl, tenant, devices, pollSeconds: 1, fail: 0 });
  try {
    await shows(page, "Finished");
  } finally {
    await fleet.stop();
  }
  // what is seen is what another client reads
  const { content } = await admin.get<{ content: { status: string; totalTargetsPerStatus: object }[] }>(
    `rollouts?q=name==${prefix}&representation=full`,
  );
  expect(content[0]).toMatchObject({ status: "finished", totalTargetsPerStatus: { finished: 200 } });

  await goTo(page, "d", "Devices");
  await tabTo(page, "grid", "Devices");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: new RegExp(`^${prefix}-`) }).waitFor();
  await tabTo(page, "tab", "Now");
  await page.keyboard.press("ArrowRight");
  for (let tabs = 0; tabs < 6 && !(await page.getByRole("tab", { name: "History", selected: true }).count()); tabs++) {
    await page.keyboard.press("Enter");
    if (!(await page.getByRole("tab", { name: "History", selected: true }).count())) await page.keyboard.press("ArrowRight");
  }
  await page.getByRole("tabpanel").getByText(`${prefix} 1.0`).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("no test of this file uses a mouse", () => {
  const text = readFileSync(new URL(import.meta.url), "utf8");
  expect(text.match(/\.(click|hover|tap|check|dragTo|selectOption)\(/g)).toBeNull();
});

test("too many failures pause a rollout, which says why; it goes on, and the failed are tried again", { timeout: 600_000 }, async () => {
  const admin = adminOf(login);
  const prefix = uniqueName("fails");
  const set = await makeSet(admin);
  const devices = await makeDevices(admin, prefix, 50);
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name: prefix,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${prefix}-*`,
    amountGroups: 2,
    successCondition: { condition: "THRESHOLD", expression: "80" },
    errorCondition: { condition: "THRESHOLD", expression: "5" },
  });
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, login);
  await openPage(page, login.baseUrl, `/rollouts/${rollout.id}`);
  await step(page, "Start");
  // 8 % fail, all of them in the first group
  const common = { baseUrl: login.baseUrl, tenant, pollSeconds: 1 };
  const fleets = [
    runFleet({ ...common, devices: devices.slice(0, 4), fail: 1 }),
    runFleet({ ...common, devices: devices.slice(4), fail: 0 }),
  ];
  try {
    await page.getByText(/too many failed/).waitFor(limit);
    await openPage(page, login.baseUrl, `/rollouts/${rollout.id}?tab=failures`);
    await page
      .getByRole("link", { name: new RegExp(`^${prefix}-`) })
      .first()
      .waitFor(limit);
    const totals = async () => (await admin.get<{ totalTargetsPerStatus: object }>(`rollouts/${rollout.id}`)).totalTargetsPerStatus;
    await expect.poll(totals, limit).toMatchObject({ error: 4, finished: 21 });
    await step(page, "Resume");
    await shows(page, "Finished");
    await fleets[0]?.stop();
    await step(page, "Retry the failed");
    await page.waitForURL((url) => !url.pathname.endsWith(`/${rollout.id}`), limit);
    await step(page, "Start");
    fleets.push(runFleet({ ...common, devices: devices.slice(0, 4), fail: 0 }));
    await shows(page, "Finished");
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.stop()));
  }
  const id = new URL(page.url()).pathname.split("/").at(-1);
  expect(await admin.get(`rollouts/${id}`)).toMatchObject({ status: "finished", totalTargetsPerStatus: { finished: 4, error: 0 } });
  expect(complaints).toEqual([]);
  await context.close();
});

test("who was silent for longer than the policy allows is counted and listed as such", { timeout: 240_000 }, async () => {
  const visited = await visit(browser());
  const { page, complaints, context } = visited;
  await haveSession(visited, login);
  await openPage(page, login.baseUrl, `/rollouts/${quiet.id}`);
  const silent = page.getByRole("link", { name: new RegExp(`^${quiet.devices}\\s*silent$`) });
  await expect.poll(() => silent.count(), limit).toBe(2);
  await silent.first().press("Enter");
  await expect.poll(() => page.getByRole("grid", { name: "Updates" }).getAttribute("aria-rowcount")).toBe(String(quiet.devices + 1));
  await openPage(page, login.baseUrl, `/rollouts/${quiet.id}?tab=silent&silence=limits`);
  await expect.poll(() => page.getByRole("grid", { name: "Silent" }).getAttribute("aria-rowcount")).toBe(String(quiet.devices + 1));
  expect(await adminOf(login).get(`rollouts/${quiet.id}`)).toMatchObject({ safetyCounts: { silent: quiet.devices } });
  expect(complaints).toEqual([]);
  await context.close();
});

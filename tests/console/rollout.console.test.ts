import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runFleet } from "@harrier/simulator";
import { createDevice, uniqueName } from "@harrier/testkit";
import { beforeAll, expect, test, vi } from "vitest";
import { haveSession, type Login, openPage, type Visit, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { makeTenant, useBrowser } from "./support/suite.ts";

// The page of a rollout beside what another client reads and what devices get: what it pauses stands still, what it counts is in the list behind the number.

const perGroup = 20;
const failing = 3;
const limit = { timeout: 120_000 };
const browser = useBrowser();
const prefix = uniqueName("seen");
let login: Login;
let tenant: string;
let seen: Visit;
let devices: { controllerId: string; token: string }[];
let rolloutId: number;
let groups: { id: number; name: string; controllerIds: string[] }[];

const admin = () => adminOf(login);
const read = () => admin().get<{ status: string; totalTargetsPerStatus: Record<string, number> }>(`rollouts/${rolloutId}`);
const of = (ids: readonly string[]) => devices.filter(({ controllerId }) => ids.includes(controllerId));
const fleetOf = (ids: readonly string[], fail = 0) => runFleet({ baseUrl: login.baseUrl, tenant, devices: of(ids), pollSeconds: 1, fail });

beforeAll(async () => {
  login = await makeTenant();
  tenant = login.user.split("\\")[0] ?? "";
  const set = await makeSet(admin());
  devices = await makeDevices(admin(), prefix, 2 * perGroup);
  const made = await admin().post<{ id: number }>("rollouts", {
    name: prefix,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${prefix}-*`,
    amountGroups: 2,
    successCondition: { condition: "THRESHOLD", expression: "100" },
    errorCondition: { condition: "THRESHOLD", expression: "90" },
  });
  rolloutId = made.id;
  await vi.waitFor(async () => expect((await read()).status).toBe("ready"), limit);
  const { content } = await admin().get<{ content: { id: number; name: string }[] }>(`rollouts/${rolloutId}/deploygroups?sort=id:ASC`);
  groups = await Promise.all(
    content.map(async ({ id, name }) => {
      const targets = await admin().get<{ content: { controllerId: string }[] }>(`rollouts/${rolloutId}/deploygroups/${id}/targets`);
      return { id, name, controllerIds: targets.content.map(({ controllerId }) => controllerId) };
    }),
  );
  seen = await visit(browser());
  await haveSession(seen, login);
});

/** Presses the button of a step and answers its question. */
async function step(name: string): Promise<void> {
  const { page } = seen;
  const button = page.getByRole("button", { name, exact: true });
  await expect.poll(() => button.first().getAttribute("aria-disabled"), limit).toBeNull();
  await button.first().press("Enter");
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name, exact: true }).press("Enter");
  await question.waitFor({ state: "detached" });
}

/** Which of these devices are offered an update, as each of them sees it. */
async function offeredTo(ids: readonly string[]): Promise<string[]> {
  const polls = of(ids).map(async ({ controllerId, token }) => {
    const { _links } = await createDevice({ baseUrl: login.baseUrl, tenant, controllerId, token }).poll();
    return _links?.deploymentBase === undefined ? [] : [controllerId];
  });
  return (await Promise.all(polls)).flat();
}

test("who is silent is listed by why nothing is heard of them", async () => {
  const { page } = seen;
  await openPage(page, login.baseUrl, `/rollouts/${rolloutId}`);
  await step("Start");
  await page.getByRole("tab", { name: `Silent ${perGroup}` }).waitFor(limit);
  await page.getByRole("tab", { name: /^Silent/ }).press("Enter");
  const rows = page.getByRole("grid", { name: "Silent" });
  await expect.poll(() => rows.getAttribute("aria-rowcount")).toBe(String(perGroup + 1));
  await page.getByRole("radio", { name: "Has not polled in time" }).press("Space");
  await page.getByText("Nobody is silent").waitFor();
  await page.getByRole("radio", { name: "Has never polled" }).press("Space");
  await expect.poll(() => rows.getAttribute("aria-rowcount")).toBe(String(perGroup + 1));
  expect(new URL(page.url()).searchParams.get("silence")).toBe("never");
});

test("as long as the groups were not read, nobody says that none is left", async () => {
  const { page } = seen;
  const lists = "**/deploygroups?**";
  const headers = { "content-type": "application/json" };
  await page.route(lists, (route) => route.fulfill({ status: 500, headers, body: JSON.stringify({ message: "Broken on purpose." }) }));
  await openPage(page, login.baseUrl, `/rollouts/${rolloutId}`);
  const why = () => page.getByRole("button", { name: "Next group" }).getAttribute("data-why");
  await expect.poll(why).toContain("were not read yet");
  await page.unroute(lists);
  await expect.poll(why, limit).toBeNull();
});

test("what is paused in the page is paused for others, and devices that have not begun get nothing", async () => {
  const { page } = seen;
  const [first, second] = groups;
  if (first === undefined || second === undefined) throw new Error("there are no two groups");
  await openPage(page, login.baseUrl, `/rollouts/${rolloutId}`);
  await step("Pause");
  await page.locator("main header").getByText("Paused").waitFor(limit);
  expect((await read()).status).toBe("paused");
  const fleets = [fleetOf(first.controllerIds.slice(0, failing), 1), fleetOf(first.controllerIds.slice(failing))];
  const ended = { error: failing, finished: perGroup - failing };
  await expect.poll(async () => (await read()).totalTargetsPerStatus, limit).toMatchObject(ended);
  await Promise.all(fleets.map((fleet) => fleet.stop()));
  for (let polls = 0; polls < 3; polls++) expect(await offeredTo(second.controllerIds)).toEqual([]);
  await step("Resume");
  await expect.poll(() => offeredTo(second.controllerIds), limit).toHaveLength(perGroup);
});

test("every number leads to the updates that it counts", async () => {
  const { page } = seen;
  const totals = async () => (await read()).totalTargetsPerStatus;
  await openPage(page, login.baseUrl, `/rollouts/${rolloutId}`);
  const shown = { installed: "finished", failed: "error", "in progress": "running" } as const;
  for (const [word, bucket] of Object.entries(shown)) {
    const expected = (await totals())[bucket];
    expect(expected, word).toBeGreaterThan(0);
    await page
      .getByRole("link", { name: new RegExp(`^${expected}\\s*${word}$`) })
      .first()
      .press("Enter");
    await expect.poll(() => page.getByRole("grid", { name: "Updates" }).getAttribute("aria-rowcount")).toBe(String((expected ?? 0) + 1));
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: prefix }).waitFor();
  }
  await page.getByRole("link", { name: `${perGroup} in ${groups[0]?.name}` }).press("Enter");
  await expect.poll(() => page.getByRole("grid", { name: "Devices" }).getAttribute("aria-rowcount")).toBe(String(perGroup + 1));

  await openPage(page, login.baseUrl, `/rollouts/${rolloutId}?tab=failures`);
  const kind = page.getByRole("row").filter({ has: page.getByRole("link", { name: String(failing), exact: true }) });
  await kind.waitFor(limit);
  const { content } = await admin().get<{ content: { code?: number; message?: string; count: number }[] }>(
    `rollouts/${rolloutId}/failures`,
  );
  expect(content).toHaveLength(1);
  const text = await kind.textContent();
  expect(text).toContain(content[0]?.message);
  expect(text).toContain(String(content[0]?.code ?? "–"));
  await kind.getByRole("link", { name: String(failing), exact: true }).press("Enter");
  await expect.poll(() => page.getByRole("grid", { name: "Updates" }).getAttribute("aria-rowcount")).toBe(String(failing + 1));
});

test("what a page gives as text does the same in a shell", async () => {
  const { page } = seen;
  const bin = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));
  const home = fileURLToPath(new URL(".", import.meta.url));
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: home,
    HARRIER_SERVER: login.baseUrl,
    HARRIER_USER: login.user,
    HARRIER_PASSWORD: login.password,
  };
  const run = async (text: string) => (await promisify(execFile)("bash", ["-c", text], { env })).stdout;
  const q = `controllerid==${prefix}-*;name!='a "b"'`;
  for (const path of [`/rollouts/${rolloutId}?tab=failures`, `/devices?q=${encodeURIComponent(q)}&sort=controllerId:DESC`]) {
    await openPage(page, login.baseUrl, path);
    await page.getByRole("button", { name: "API", exact: true }).press("Enter");
    const texts = page.getByRole("dialog", { name: "This page as text" }).locator("pre");
    await texts.first().waitFor();
    const [command = "", curl = ""] = await texts.allTextContents();
    const withPassword = curl.replace(/-u '([^']*)'/, (_, user: string) => `-u '${user}:${login.password}'`);
    const answer = JSON.parse(await run(withPassword)) as { content: { message?: string; controllerId?: string }[] };
    const wanted = answer.content[0]?.message ?? answer.content[0]?.controllerId ?? "nothing";
    expect(await run(command)).toContain(wanted.slice(0, 12));
  }
  expect(seen.complaints).toEqual([]);
});

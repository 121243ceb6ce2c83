import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { haveSession, type Login, openPage, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// Approvals: what waits is shown beside what it would be now, and what is decided is what others read, with its remark and who decided.

const browser = useBrowser();
const limit = { timeout: 30_000 };
const password = "a password of a person";
let login: Login;
let page: Page;
let complaints: string[];
let planner: Login;
let set: { id: number; name: string };

const admin = () => adminOf(login);
async function makeUser(name: string, permissions: readonly string[]): Promise<Login> {
  await admin().post("users", [{ name, password, permissions }]);
  return { ...login, user: `${login.user.split("\\")[0]}\\${name}`, password };
}
const reading = ["READ_ROLLOUT", "READ_TARGET", "READ_REPOSITORY"];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
  set = await makeSet(admin());
  await admin().configure("rollout.approval.enabled", true);
  await admin().configure("auto.assignment.approval.enabled", true);
  planner = await makeUser("planner", [...reading, "CREATE_ROLLOUT", "UPDATE_TARGET"]);
});

interface Decided {
  readonly status: string;
  readonly approveDecidedBy?: string;
  readonly approvalRemark?: string;
}
const read = (id: number) => admin().get<Decided>(`rollouts/${id}`);

/** A rollout in two groups, which waits. */
async function asks(name: string): Promise<number> {
  const group = (title: string, targetPercentage: number) => ({ name: title, targetPercentage });
  const { id } = await adminOf(planner).post<{ id: number }>("rollouts", {
    name,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${name}-*`,
    groups: [group("first", 50), group("rest", 100)],
  });
  await expect.poll(async () => (await read(id)).status, limit).toBe("waiting_for_approval");
  return id;
}

/** Decides with a remark about what waits under this name. */
async function decide(of: Page, name: string, word: string, remark: string): Promise<void> {
  await of.getByRole("region", { name }).getByRole("button", { name: word, exact: true }).press("Enter");
  const question = of.getByRole("alertdialog");
  await question.getByLabel("Remark").fill(remark);
  await question.getByRole("button", { name: word, exact: true }).press("Enter");
  await question.waitFor({ state: "detached" });
}

test("a rollout that waits is shown beside what it would be now, and is denied with a remark", async () => {
  const name = uniqueName("grown");
  await makeDevices(admin(), name, 4);
  const id = await asks(name);
  await openPage(page, login.baseUrl, "/approvals");
  const card = page.getByRole("region", { name });
  await card.getByText("Made now it would have as many devices: 4.").waitFor();
  await admin().post("targets", [{ controllerId: `${name}-later-1` }, { controllerId: `${name}-later-2` }]);
  await page.reload();
  const differs = "Made now it would have 6 devices, 2 more than when it was made.";
  await card.getByText(differs).waitFor();
  await card.locator("summary", { hasText: "The plan by groups" }).press("Enter");
  const cells = async () => Promise.all((await card.locator("tbody tr").all()).map((row) => row.locator("td").allTextContents()));
  await expect
    .poll(async () => (await cells()).map((row) => row.slice(0, 3)))
    .toEqual([
      ["first", "2", "3"],
      ["rest", "2", "3"],
    ]);
  expect(await axe(page, "main")).toEqual([]);

  await card.getByRole("button", { name: "Deny", exact: true }).press("Enter");
  await page.getByRole("alertdialog").getByText(differs).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  expect((await read(id)).status).toBe("waiting_for_approval");
  await decide(page, name, "Deny", "not before the weekend");
  await expect.poll(async () => (await read(id)).status, limit).toBe("approval_denied");
  expect(await read(id)).toMatchObject({ approvalRemark: "not before the weekend" });
  await card.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

test("who may approve and make none sees how many match, and approves with a remark", async () => {
  const name = uniqueName("fewer");
  const made = await makeDevices(admin(), name, 3);
  const id = await asks(name);
  expect((await admin().call(`targets/${made[0]?.controllerId}`, { method: "PUT", body: { name: "another" } })).status).toBe(200);
  await admin().post("targets", [{ controllerId: `${name}-later` }]);
  const approver = await makeUser("approver", [...reading, "APPROVE_ROLLOUT"]);
  const visited = await visit(browser());
  await haveSession(visited, approver);
  await openPage(visited.page, login.baseUrl, "/approvals");
  await visited.page.getByRole("region", { name }).getByText("Made now it would have 4 devices, 1 more than").waitFor();
  await decide(visited.page, name, "Approve", "ok for all");
  await expect.poll(async () => (await read(id)).status, limit).toBe("ready");
  expect(await read(id)).toMatchObject({ approvalRemark: "ok for all", approveDecidedBy: expect.stringContaining("approver") });
  expect(visited.complaints).toEqual([]);
  await visited.context.close();
});

test("what would be refused now is said before it is decided", async () => {
  const name = uniqueName("gone");
  const devices = await makeDevices(admin(), name, 2);
  await asks(name);
  for (const { controllerId } of devices) {
    expect((await admin().call(`targets/${controllerId}`, { method: "DELETE" })).status).toBeLessThan(300);
  }
  await openPage(page, login.baseUrl, "/approvals");
  await page
    .getByRole("region", { name })
    .getByText(/^Made now it would be refused: /)
    .waitFor();
  expect(complaints).toEqual([]);
});

test.each([
  ["Approve", "running"],
  ["Deny", "approval_denied"],
])("an auto-assignment that waits: %s", async (word, status) => {
  const name = uniqueName("always");
  const { id: filter } = await admin().post<{ id: number }>("targetfilters", { name, query: `controllerid==${name}-*` });
  await adminOf(planner).post(`targetfilters/${filter}/autoAssignDS`, { id: set.id });
  const now = async () => {
    const { content } = await admin().get<{ content: { name: string; status: string }[] }>("autoassignments?limit=100");
    return content.find((one) => one.name === name)?.status;
  };
  expect(await now()).toBe("waiting_for_approval");
  await openPage(page, login.baseUrl, "/approvals");
  await decide(page, `Auto-assignment: ${name}`, word, "seen");
  await expect.poll(now, limit).toBe(status);
  await page.getByRole("region", { name: `Auto-assignment: ${name}` }).waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

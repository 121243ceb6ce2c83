import { uniqueName } from "@harrier/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { axe } from "./support/axe.ts";
import { type Login, openPage } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";
import { useBrowser, visitTenant } from "./support/suite.ts";

// What is done to many at once is done to those that the list shows, after their number was typed; the trail says who did it.

const browser = useBrowser();
let login: Login;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  ({ login, page, complaints } = await visitTenant(browser()));
});

const admin = () => adminOf(login);
const question = () => page.getByRole("alertdialog");

test("the closed updates of a filter are deleted, and no other", async () => {
  const set = await makeSet(admin());
  const prefix = uniqueName("many");
  const [cancelled, open, other] = await makeDevices(admin(), prefix, 3);
  for (const { controllerId } of [cancelled, open, other] as { controllerId: string }[])
    await admin().post(`distributionsets/${set.id}/assignedTargets`, [{ id: controllerId }]);
  const actionOf = async (controllerId = "") =>
    (await admin().get<{ content: { id: number }[] }>(`targets/${controllerId}/actions`)).content[0]?.id;
  for (const { controllerId } of [cancelled, other] as { controllerId: string }[]) {
    const path = `targets/${controllerId}/actions/${await actionOf(controllerId)}`;
    expect((await admin().call(path, { method: "DELETE" })).status).toBe(204);
    expect((await admin().call(`${path}?force=true`, { method: "DELETE" })).status).toBe(204);
  }
  const q = `target.controllerid=in=(${cancelled?.controllerId},${open?.controllerId})`;
  await openPage(page, login.baseUrl, `/actions?q=${encodeURIComponent(q)}`);
  await page.getByRole("button", { name: "Delete the closed ones" }).press("Enter");
  await question().getByText("Delete 1 closed update?").waitFor();
  // Why it cannot be pressed is a part of its name.
  const button = question().getByRole("button").last();
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  expect(await axe(page, "[role=alertdialog]")).toEqual([]);
  await question().getByLabel("Type 1 to confirm").fill("1");
  await button.press("Enter");
  await question().waitFor({ state: "detached" });
  expect(await Promise.all([cancelled, open, other].map((device) => actionOf(device?.controllerId)))).toEqual([
    undefined,
    expect.any(Number),
    expect.any(Number),
  ]);

  await page.getByRole("button", { name: "Delete the closed ones" }).press("Enter");
  await question().getByText("Delete 0 closed updates?").waitFor();
  expect(await question().getByRole("button").last().getAttribute("data-why")).toBe("No closed update is in this list");
  expect(complaints).toEqual([]);
});

test("an entry of the audit trail has an address of its own, and leads to what was done with the same thing", async () => {
  const name = uniqueName("traced");
  await admin().post("targettags", [{ name }]);
  await openPage(page, login.baseUrl, `/audit?q=${encodeURIComponent("action==targetTags.create")}`);
  await page.getByRole("grid").getByText("targetTags.create").first().waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const heading = page.getByRole("heading", { level: 1, name: "targetTags.create" });
  await heading.waitFor();
  const { pathname } = new URL(page.url());
  const { id } = (await admin().get<{ content: { id: string }[] }>("audit?q=action==targetTags.create")).content[0] ?? {};
  expect(pathname).toBe(`/console/audit/${id}`);
  await page.reload();
  await heading.waitFor();
  await page.getByRole("link", { name: "Everything done with it" }).press("Enter");
  await page.getByRole("grid").getByText("targetTags.create").first().waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toMatch(/^entity==.+;entityid==/);
  expect(complaints).toEqual([]);
});

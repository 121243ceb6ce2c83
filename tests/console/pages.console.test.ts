import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { startTestStack, uniqueName } from "@harrier/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signIn, startBrowser, type Theme, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";

let stack: Awaited<ReturnType<typeof startTestStack>>;
let browser: Browser;
let paths: string[];

beforeAll(async () => {
  [stack, browser] = await Promise.all([startTestStack(), startBrowser()]);
  const admin = adminOf(stack);
  const prefix = uniqueName("seen");
  const set = await makeSet(admin);
  const [device] = await makeDevices(admin, prefix, 30);
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name: prefix,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${prefix}-*`,
    amountGroups: 3,
  });
  const { content } = await admin.get<{ content: { id: number }[] }>("softwaremodules");
  const filter = await admin.post<{ id: number }>("targetfilters", { name: prefix, query: `controllerid==${prefix}-*` });
  const about = `/rollouts/${rollout.id}`;
  paths = [
    ...["/", "/devices", "/devices?q=name==nobody", `/devices/${device?.controllerId}`, "/devices/nobody", "/rollouts", "/rollouts/new"],
    ...[about, `${about}?tab=failures`, `${about}?tab=silent`, `${about}?tab=devices`, `${about}?tab=timeline`, `${about}?tab=definition`],
    ...["history", "attributes", "metadata", "access"].map((tab) => `/devices/${device?.controllerId}?tab=${tab}`),
    ...[
      "/software",
      "/software?tab=modules",
      `/software/sets/${set.id}`,
      `/software/modules/${content[0]?.id}`,
      "/auto-assign",
      "/auto-assign?q=nobody",
      "/auto-assign?tab=assignments",
      `/filters/${filter.id}`,
      "/approvals",
      "/reports?from=2026-01",
      "/actions",
      "/audit",
      "/me",
      "/nowhere",
    ],
    ...["/settings", "/settings/polling", "/settings/sign-in", "/settings/quotas", "/settings/webhooks", "/settings/nothing"],
    ...["/settings/types", "/settings/types?tab=softwareModuleTypes", "/settings/tags", "/settings/tags?q=nobody"],
    ...["/settings/users", "/settings/roles", "/settings/keys", "/settings/clients"],
    ...["/system", "/system/operations", "/system/status"],
  ];
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/** What axe finds; it is evaluated by the debugger, which the policy of the page does not bind. */
async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const options = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
  const found = await page.evaluate(
    (given) =>
      (globalThis as unknown as { axe: { run: (of: Document, how: object) => Promise<{ violations: Finding[] }> } }).axe.run(
        document,
        given,
      ),
    options,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary?.slice(0, 200)}`),
  );
}

/** A page is there when its heading is, and what it has asked for. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${stack.baseUrl}/console${path}`);
  await page.locator("h1").first().waitFor();
  await expect.poll(() => page.locator("[role=status][aria-label=Loading]").count()).toBe(0);
}

describe.each<Theme>(["light", "dark"])("in the %s theme", (theme) => {
  test("axe finds nothing on any page, and the policy of the page is not violated", { timeout: 240_000 }, async () => {
    const { page, complaints, context } = await visit(browser, { theme });
    await page.goto(`${stack.baseUrl}/console/login`);
    await page.getByLabel("User name").waitFor();
    const found = (await axe(page)).map((text) => `/login ${text}`);
    await page.goto(`${stack.baseUrl}/console/login?error=denied`);
    await page.getByText("known to the identity provider, but not here").waitFor();
    found.push(...(await axe(page)).map((text) => `/login?error ${text}`));
    await signIn(page, stack.baseUrl, stack.adminPassword);
    for (const path of paths) {
      await open(page, path);
      found.push(...(await axe(page)).map((text) => `${path} ${text}`));
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test.each([390, 768, 1280])("at %d px no page is wider than the window", async (width) => {
  const { page, context } = await visit(browser, { width });
  await signIn(page, stack.baseUrl, stack.adminPassword);
  const wide: string[] = [];
  for (const path of paths) {
    await open(page, path);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) wide.push(`${path} by ${over} px`);
  }
  expect(wide).toEqual([]);
  await context.close();
});

test("the session is a cookie that no script reads, a forged write is refused, and signing out ends it", async () => {
  const { page, context } = await visit(browser);
  await signIn(page, stack.baseUrl, stack.adminPassword);
  expect(await page.evaluate(() => document.cookie)).toBe("");
  const write = (headers: Record<string, string>) =>
    page.evaluate(
      async (given) =>
        (await fetch("/api/mgmt/v1/targettags", { method: "POST", headers: { "content-type": "application/json", ...given }, body: "[]" }))
          .status,
      headers,
    );
  expect(await write({})).toBe(403);
  expect(await write({ "x-harrier-console": "1" })).toBe(201);
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await page.getByLabel("User name").waitFor();
  expect(await page.evaluate(async () => (await fetch("/api/mgmt/v1/userinfo")).status)).toBe(401);
  await context.close();
});

test("whoever ends the session of the page signs in again", async () => {
  const { page, context } = await visit(browser);
  await signIn(page, stack.baseUrl, stack.adminPassword);
  await page.goto(`${stack.baseUrl}/console/me`);
  await page.getByRole("row", { name: "This session" }).getByRole("button", { name: "End" }).press("Enter");
  await page.getByRole("alertdialog").getByRole("button", { name: "End" }).press("Enter");
  await page.getByLabel("User name").waitFor();
  expect(await page.evaluate(async () => (await fetch("/api/mgmt/v1/userinfo")).status)).toBe(401);
  await context.close();
});

test("a wrong password is said, and the address that was asked for is reached after the right one", async () => {
  const { page, context } = await visit(browser);
  await page.goto(`${stack.baseUrl}/console/devices?q=name==nobody`);
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill("certainly not it");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill(stack.adminPassword);
  await page.keyboard.press("Enter");
  await page.getByText("Nothing matches").waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/devices");
  await context.close();
});

test("a page that cannot be loaded says why, and tries again", async () => {
  const { page, context } = await visit(browser);
  await signIn(page, stack.baseUrl, stack.adminPassword);
  await page.route("**/api/mgmt/v1/rollouts?**", (route) =>
    route.fulfill({ status: 500, headers: { "x-request-id": "req-1" }, body: '{"message":"broken on purpose"}' }),
  );
  await page.goto(`${stack.baseUrl}/console/rollouts`);
  await page.getByRole("alert").getByText("broken on purpose").waitFor();
  expect(await page.getByRole("alert").textContent()).toContain("req-1");
  await page.unroute("**/api/mgmt/v1/rollouts?**");
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await page.getByRole("grid", { name: "Rollouts" }).waitFor();
  await context.close();
});

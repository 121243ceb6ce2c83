import { startTestStack, uniqueName } from "@harrier/testkit";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { haveSession, openPage, startBrowser, visit } from "./support/browser.ts";
import { adminOf, makeDevices, makeSet } from "./support/fleet.ts";

// What a user may not do stays where it is with its reason, what may not be read is not in the navigation, and the server refuses the call itself.

let stack: Awaited<ReturnType<typeof startTestStack>>;
let browser: Browser;
let names: string[];
let paths: string[];
let all: Seen;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startTestStack(), startBrowser()]);
  const admin = adminOf(stack);
  const known = await admin.get<{ name: string; area: string }[]>("permissions");
  names = known.filter(({ area, name }) => area !== "installation" && name !== "SYSTEM_ADMIN").map(({ name }) => name);
  const prefix = uniqueName("may");
  const set = await makeSet(admin);
  const [device] = await makeDevices(admin, prefix, 2);
  const body = { name: prefix, distributionSetId: set.id, targetFilterQuery: `controllerid==${prefix}-*`, amountGroups: 1 };
  const rollout = await admin.post<{ id: number }>("rollouts", body);
  const modules = await admin.get<{ content: { id: number }[] }>("softwaremodules");
  paths = [
    ...[
      "/devices",
      `/devices/${device?.controllerId}`,
      `/devices/${device?.controllerId}?tab=access`,
      "/rollouts",
      `/rollouts/${rollout.id}`,
    ],
    ...["/software", `/software/sets/${set.id}`, `/software/modules/${modules.content[0]?.id}`],
  ];
  all = await seenBy(names);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

interface Seen {
  readonly places: string[];
  /** The reasons of the controls that cannot be used, by page. */
  readonly reasons: Record<string, string[]>;
  readonly complaints: string[];
  status(method: string, path: string): Promise<number>;
}

async function seenBy(permissions: readonly string[]): Promise<Seen> {
  const [user, password] = [uniqueName("user"), "a password for pages"];
  await adminOf(stack).post("users", [{ name: user, password, permissions }]);
  const visited = await visit(browser);
  await haveSession(visited, stack.baseUrl, password, user);
  const { page, complaints } = visited;
  const reasons: Seen["reasons"] = {};
  for (const path of paths) {
    await openPage(page, stack.baseUrl, path);
    reasons[path] = await page
      .locator("[aria-disabled=true][data-why]")
      .evaluateAll((found) => found.map((one) => one.getAttribute("data-why") ?? ""));
  }
  const places = await page.locator("nav a[href]").evaluateAll((found) => found.map((one) => one.getAttribute("href") ?? ""));
  const status = (method: string, path: string) =>
    page.evaluate(
      async ([how, where]) => {
        const headers = { "content-type": "application/json", "x-harrier-console": "1" };
        return (await fetch(`/api/mgmt/v1/${where}`, { method: how, headers, ...(how === "GET" ? {} : { body: "[]" }) })).status;
      },
      [method, path] as const,
    );
  return { places, reasons, complaints, status };
}

const missing = (seen: Seen, permission: string) =>
  Object.entries(seen.reasons).flatMap(([path, reasons]) => reasons.filter((text) => text.includes(` ${permission},`)).map(() => path));

test("whoever holds every permission finds no control that lacks one", () => {
  expect(names.filter((name) => missing(all, name).length > 0)).toEqual([]);
  expect(all.complaints).toEqual([]);
});

/** A page on which a control names the permission, and a call that it refuses. */
const controls: [permission: string, page: RegExp, method: string, path: string][] = [
  ["CREATE_TARGET", /^\/devices$/, "POST", "targets"],
  ["UPDATE_TARGET", /^\/devices\/[^?]+$/, "POST", "targets/none/assignedDS"],
  ["DELETE_TARGET", /^\/devices\/[^?]+$/, "DELETE", "targets/none"],
  ["CREATE_REPOSITORY", /^\/software$/, "POST", "softwaremodules"],
  ["UPDATE_REPOSITORY", /^\/software\/sets\//, "POST", "distributionsets/999/assignedSM"],
  ["DELETE_REPOSITORY", /^\/software\/modules\//, "DELETE", "softwaremodules/999"],
  ["HANDLE_ROLLOUT", /^\/rollouts\/\d+$/, "POST", "rollouts/999/start"],
];

test.each(controls)(
  "without %s its control says why it cannot be used, and the call is refused",
  async (permission, where, method, path) => {
    const seen = await seenBy(names.filter((name) => name !== permission));
    expect(missing(seen, permission).some((one) => where.test(one))).toBe(true);
    expect(await seen.status(method, path)).toBe(403);
    expect(seen.complaints).toEqual([]);
  },
);

/** A page that is not in the navigation, and the call that it would begin with. */
const pages: [permission: string, place: RegExp, path: string][] = [
  ["READ_TARGET", /\/devices$/, "targets"],
  ["READ_REPOSITORY", /\/software$/, "distributionsets"],
  ["READ_ROLLOUT", /\/rollouts$/, "rollouts"],
];

test.each(pages)("without %s its page is not in the navigation, and its list is refused", async (permission, place, path) => {
  expect(all.places.some((one) => place.test(one))).toBe(true);
  // A permission that changes things may imply the one to read them.
  const related = permission.slice("READ_".length);
  const seen = await seenBy(names.filter((name) => !name.includes(related)));
  expect(seen.places.filter((one) => place.test(one))).toEqual([]);
  expect(await seen.status("GET", path)).toBe(403);
  expect(seen.complaints).toEqual([]);
});

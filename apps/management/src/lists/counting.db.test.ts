import { type Route, routes } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { api, type TargetsFixture, targetsFixture } from "../targets/targets.fixture.ts";

// No list of a fleet or of a history costs more for being counted than its page, where the caller does not ask for the count (contract console.md §1, M02).

let all: TargetsFixture;
const params: Record<string, string | number> = { targetId: "counted-1", group: "g" };

beforeAll(async () => {
  all = await targetsFixture();
  const { fixture, http } = all;
  const setId = await all.newSet();
  for (const n of [1, 2, 3]) {
    const targetId = await fixture.addTarget(`counted-${n}`);
    await fixture.asController("update targets set target_group = 'g' where id = $1", [targetId]);
    await fixture.addAction({ targetId, controllerId: `counted-${n}`, setId, active: true });
  }
  const { body } = await http.call("POST", `${api}/targettags`, { body: [{ name: "counted" }] });
  Object.assign(params, { distributionSetId: setId, targetTagId: body[0].id });
});
afterAll(() => all?.close());

const takes = ({ query }: Route, name: string): boolean => name in ((query as { shape?: object } | undefined)?.shape ?? {});
const lists = routes.filter((route) => route.service === "management" && route.method === "GET" && takes(route, "total"));

/** What every connection sends goes through this method of its class. */
async function connections(): Promise<{ query: (query: string | { text: string }) => unknown }> {
  const client = await all.fixture.db.pool.connect();
  client.release();
  return Object.getPrototypeOf(client);
}

/** Answers the texts of the statements that a request sends. */
async function sent(path: string): Promise<string[]> {
  const spy = vi.spyOn(await connections(), "query");
  try {
    const { status, body } = await all.http.call("GET", `${api}${path}`);
    expect(status, `${path} ${JSON.stringify(body)}`).toBe(200);
    return spy.mock.calls.map(([query]) => (typeof query === "string" ? query : query.text));
  } finally {
    spy.mockRestore();
  }
}
/** A search of a fleet collects few matches first, up to a number, to choose its way; that is no count of all. */
const ofFew = /select count\(\*\)::int as n from "few"/;
const counts = (text = "") => text.replace(ofFew, "").match(/\bcount\(|_counts_v1/g)?.length ?? 0;

test.each(lists.map((route) => [route.id, route] as const))("console M02 %s counts nothing with total=none", async (_id, route) => {
  const at = route.path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
  const read = (query: string) => sent(`${at}?${query}${takes(route, "group") ? "&group=g" : ""}`);
  const [exact, none, behind] = [await read("limit=2"), await read("limit=2&total=none"), await read("limit=1&total=none&offset=1")];
  expect([exact.length, none.length, behind.length]).toEqual([1, 1, 1]);
  expect(counts(exact[0])).toBeGreaterThan(0);
  expect([counts(none[0]), counts(behind[0])]).toEqual([0, 0]);
});

test("these lists can be read without a count", () => {
  const takesNone = routes.filter((route) => route.interface === "management" && route.method === "GET" && takes(route, "total"));
  expect(takesNone.map(({ id }) => id).sort()).toEqual([
    ...[
      "actions.list",
      "audit.list",
      "distributionSets.listAssignedTargets",
      "distributionSets.listInstalledTargets",
      "rollouts.groupTargets",
    ],
    ...["targetGroups.listTargets", "targetGroups.listTargetsOf", "targetTags.listAssigned", "targets.list", "targets.listActions"],
  ]);
});

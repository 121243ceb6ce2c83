import { sortFields } from "@harrier/fiql";
import { pageCost, pagedLists, pathOfList, sortsOf, walked } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freezeRollout } from "../freeze/freeze.ts";
import { setIds } from "../testing/database.fixture.ts";
import { createHttpFixture, everything, type HttpFixture } from "../testing/http.fixture.ts";

// No list costs more for being counted than its page, where the caller does not ask for the count, and each is walked by its cursor in any order
// (contract console.md §1, M02).

const api = "/api/mgmt/v1";
const n = 5;
const permissions = [...everything, ...["READ", "CREATE", "UPDATE"].map((verb) => `${verb}_TARGET`), "READ_REPOSITORY"];
let http: HttpFixture;
let params: Record<string, number>;

beforeAll(async () => {
  http = await createHttpFixture();
  const { fixture } = http;
  await fixture.addTargets("t", 10);
  const made = async (path: string, body: object): Promise<number> => {
    const answer = await http.call("POST", path, { base: api, body, permissions });
    expect(answer.status, answer.text).toBe(201);
    return Number(answer.body["id"]);
  };
  // members that may be absent are absent in some, and the same in others
  const described = (i: number) => (i % 3 > 0 ? { description: `d${i % 2}` } : {});
  const ids: number[] = [];
  for (let i = 0; i < n; i++) {
    const filter = { name: `f${i}`, query: "name==nobody" };
    await made("/targetfilters", filter);
    const assigning = { name: `a${i}`, targetFilterQuery: "name==nobody", distributionSetId: setIds.complete, ...described(i) };
    await made("/autoassignments", { ...assigning, actionType: i % 2 === 0 ? "soft" : "forced" });
    const rollout = { name: `r${i}`, distributionSetId: setIds.complete, targetFilterQuery: "name==t-*", ...described(i) };
    ids.push(await made("/rollouts", { ...rollout, amountGroups: n }));
  }
  const [rolloutId = 0] = ids;
  await freezeRollout({ ...fixture.create, fault: () => {} }, { tenantId: 1, rolloutId });
  await fixture.sql("update rollout_engine.rollout_groups set description = case when id % 3 > 0 then 'd' || id % 2 end");
  await fixture.sql("update rollout_engine.target_filters set auto_assign_decided_by = 'u' || id % 2 where id % 3 > 0");
  const [group] = await fixture.sql<{ id: number }>(
    "select id::int from rollout_engine.rollout_groups where rollout_id = $1 order by position limit 1",
    [rolloutId],
  );
  params = { rolloutId, groupId: group?.id ?? 0, distributionSetId: setIds.complete };
});
afterAll(() => http?.close());

const lists = pagedLists("rollout-engine").map((route) => [route.id, route] as const);
const read = async (path: string) => {
  const answer = await http.call("GET", path, { base: api, permissions });
  expect(answer.status, `${path} ${answer.text}`).toBe(200);
  return answer.body as { content: Record<string, unknown>[]; total?: number; next?: string };
};

/** What an item of the page counts for itself: the groups of a rollout. */
const ofItems: Readonly<Record<string, number>> = { "rollouts.list": 1 };

test.each(lists)("console M02 %s counts nothing with total=none", async (id, route) => {
  const counts = ofItems[id] ?? 0;
  const path = pathOfList(route, params);
  const cost = (query: string) => pageCost(http.db, () => read(`${path}${query}`));
  const [exact, none, deep] = [await cost("limit=2"), await cost("limit=2&total=none"), await cost("limit=1&total=none&offset=1")];
  expect(exact.counts).toBeGreaterThan(counts);
  expect([none.counts, deep.counts]).toEqual([counts, counts]);
  expect([none.statements, deep.statements]).toEqual([exact.statements, exact.statements]);
  expect(none.planned).toBeLessThan(exact.planned);
});

const sorts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "targetFilters.list": sortFields.targetFilters.fields,
  "distributionSets.autoAssignFilters": sortFields.targetFilters.fields,
  "autoAssignments.list": sortFields.autoAssignments.fields,
  "distributionSets.autoAssignments": sortFields.autoAssignments.fields,
  "rollouts.list": sortFields.rollouts.fields,
  "rollouts.listGroups": sortFields.rolloutGroups.fields,
  "rollouts.groupTargets": sortFields.targets.fields,
  "rollouts.timeline": { sequence: "t.sequence" },
};

test.each(lists)("console M02 %s is walked in the order of its pages, each item once", async (id, route) => {
  const page = (query: string) => read(`${pathOfList(route, params)}${query}`);
  for (const sort of sortsOf(sorts[id] ?? {})) {
    const { content, total } = await page(`sort=${sort}`);
    expect(total).toBe(content.length);
    expect(await walked(page, sort), sort).toEqual(content);
  }
  expect(await walked(page, "")).toEqual((await page("")).content);
});

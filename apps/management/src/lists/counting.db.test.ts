import { sortFields } from "@harrier/fiql";
import { hasCursor, pageCost, pagedLists, pathOfList, sortsOf, walked } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientSort } from "../oauth-clients/oauth-clients.sql.ts";
import { operationQuery } from "../operations/background.sql.ts";
import { api, type TargetsFixture, targetsFixture } from "../targets/targets.fixture.ts";
import { tenantQuery } from "../tenants/tenants.sql.ts";
import { idAndName } from "./id-and-name.ts";

// No list costs more for being counted than its page, where the caller does not ask for the count, and each is walked by its cursor in any order
// (contract console.md §1, M02). The orders of targets, actions and audit entries have tests of their own.

let all: TargetsFixture;
const params: Record<string, string | number> = { targetId: "counted-0", group: "g" };
const n = 5;

/** Creates five entities of a kind; members that may be absent are absent in some, and the same in others. */
async function five(path: string, more: (i: number) => object, optional: readonly string[] = ["description"]): Promise<number[]> {
  const body = Array.from({ length: n }, (_, i) => {
    const given = i % 3 > 0 ? optional.map((member) => [member, `${member} ${i % 2}`]) : [];
    return { name: `counted ${i}`, ...Object.fromEntries(given), ...more(i) };
  });
  const answer = await all.http.call("POST", `${api}${path}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.map(({ id }: { id: number }) => id);
}

async function addTargets(setId: number): Promise<void> {
  const { fixture } = all;
  for (let i = 0; i < n; i++) {
    const targetId = await fixture.addTarget(`counted-${i}`, { assignedSetId: setId, installedSetId: setId });
    await fixture.asController("update targets set target_group = 'g' where id = $1", [targetId]);
    const actionId = await fixture.addAction({ targetId, controllerId: `counted-${i}`, setId, active: true });
    if (i > 0) continue;
    params["actionId"] = actionId;
    await fixture.asController(
      `insert into action_history (tenant_id, action_id, revision, status, occurred_at, reported_at)
       select 1, $1, r, 1, now() - r / 2 * interval '1 s', now() + r / 2 * interval '1 s' from generate_series(2, 6) r`,
      [actionId],
    );
  }
}

beforeAll(async () => {
  all = await targetsFixture();
  const { fixture, http } = all;
  const coloured = ["description", "colour"];
  await five("/softwaremoduletypes", (i) => ({ key: `m${i}`, maxAssignments: 1 + (i % 2) }), coloured);
  await five("/distributionsettypes", (i) => ({ key: `s${i}` }), coloured);
  await five("/targettypes", (i) => ({ key: `t${i}` }), coloured);
  const modules = await five("/softwaremodules", (i) => ({ version: `${i % 2}`, type: "application", name: `m${i}` }));
  const sets = await five("/distributionsets", (i) => ({
    ...{ version: `${i % 2}`, type: "app" },
    ...(i % 2 === 0 ? { modules: modules.map((id) => ({ id })) } : {}),
  }));
  const [setId = 0] = sets;
  const [targetTagId = 0] = await five("/targettags", () => ({}), coloured);
  const [distributionsetTagId = 0] = await five("/distributionsettags", () => ({}), coloured);
  await five("/users", () => ({ password: "long enough for a user" }), []);
  await five("/roles", () => ({ permissions: [] }), []);
  await five("/oauth2-clients", () => ({ scopes: ["API_KEY"] }));
  await fixture.rows("update oauth_clients set last_used_on = current_date - (id % 2)::int where id % 3 > 0");
  await five("/system/tenants", (i) => ({ name: `counted${i}`, administrator: { name: "boss", password: "long enough, too" } }));
  await fixture.rows(`insert into background_operations (tenant_id, kind, subject, payload, created_by, created_at)
    select 1, 'delete-tenant', 's', '{}', 'admin', now() - n / 2 * interval '1 s' from generate_series(1, ${n}) n`);
  await addTargets(setId);
  const put = async (path: string, body?: object) =>
    expect((await http.call("POST", `${api}${path}`, { body })).status, path).toBeLessThan(300);
  const entries = Array.from({ length: n }, (_, i) => ({ key: `k${i}`, value: `${i % 2}` }));
  await put(`/softwaremodules/${modules[0]}/metadata`, entries);
  await put(`/distributionsets/${setId}/metadata`, entries);
  await put("/targets/counted-0/metadata", entries);
  await put(`/distributionsettags/${distributionsetTagId}/assigned`, sets);
  await fixture.asController("insert into target_tag_links (tenant_id, target_id, tag_id) select 1, id, $1 from targets", [targetTagId]);
  Object.assign(params, { distributionSetId: setId, softwareModuleId: modules[0], targetTagId, distributionsetTagId });
});
afterAll(() => all?.close());

const lists = pagedLists("management").map((route) => [route.id, route] as const);
const read = async (path: string) => {
  const { status, body } = await all.http.call("GET", `${api}${path}`);
  expect(status, `${path} ${JSON.stringify(body)}`).toBe(200);
  return body as { content: Record<string, unknown>[]; total?: number; next?: string };
};

/** What an item of the page counts for itself: the artifacts of a module, of which a set needs some to be complete. */
const ofItems: Readonly<Record<string, number>> = {
  "softwareModules.list": 1,
  "distributionSets.listModules": 1,
  "distributionSets.list": 2,
  "distributionSetTags.listAssigned": 2,
};

test.each(lists)("console M02 %s counts nothing with total=none", async (id, route) => {
  const counts = ofItems[id] ?? 0;
  const path = pathOfList(route, params);
  const cost = (query: string) => pageCost(all.fixture.db, () => read(`${path}${query}`));
  const [exact, none, deep] = [await cost("limit=2"), await cost("limit=2&total=none"), await cost("limit=1&total=none&offset=1")];
  expect(exact.counts).toBeGreaterThan(counts);
  expect([none.counts, deep.counts]).toEqual([counts, counts]);
  expect([none.statements, deep.statements]).toEqual([exact.statements, exact.statements]);
  expect(none.planned).toBeLessThan(exact.planned);
});

const sorts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "softwareModules.list": sortFields.softwareModules.fields,
  "softwareModuleTypes.list": sortFields.softwareModuleTypes.fields,
  "distributionSetTypes.list": sortFields.distributionSetTypes.fields,
  "distributionSets.list": sortFields.distributionSets.fields,
  "distributionSets.listModules": sortFields.softwareModules.fields,
  "distributionSetTags.listAssigned": sortFields.distributionSets.fields,
  "targets.actionStatus": sortFields.actionStatuses.fields,
  "targetTypes.list": sortFields.targetTypes.fields,
  "distributionSetTags.list": sortFields.tags.fields,
  "targetTags.list": sortFields.tags.fields,
  "users.list": idAndName.sort.fields,
  "roles.list": idAndName.sort.fields,
  "tenants.list": tenantQuery.sort.fields,
  "operations.list": operationQuery.sort.fields,
  "oauth2Clients.list": clientSort.fields,
};

const walkedElsewhere = new Set(["targets.listActions", "audit.list"]);
const walks = lists.filter(([id, route]) => hasCursor(route) && !walkedElsewhere.has(id));

test.each(walks)("console M02 %s is walked in the order of its pages, each item once", async (id, route) => {
  const page = (query: string) => read(`${pathOfList(route, params)}${query}`);
  for (const sort of ["", ...sortsOf(sorts[id] ?? {})]) {
    const { content, total } = await page(`sort=${sort}`);
    expect(total).toBe(content.length);
    expect(total).toBeGreaterThanOrEqual(n);
    expect(await walked(page, sort), sort).toEqual(content);
  }
});

test("only metadata, whose values may be too long for one, have no cursor", async () => {
  const without = lists.filter(([, route]) => !hasCursor(route));
  expect(without.map(([id]) => id).sort()).toEqual([
    "distributionSets.listMetadata",
    "softwareModules.listMetadata",
    "targets.listMetadata",
  ]);
  for (const [id, route] of without)
    expect(Object.keys(await read(`${pathOfList(route, params)}limit=1&total=none`)).sort(), id).toEqual(["content", "size"]);
});

import { autoAssignBody } from "@harrier/contracts";
import type { Principal } from "@harrier/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseTargetFilter } from "../matching/matching.ts";
import { createFixture, type Fixture, setIds, typeIds } from "../testing/database.fixture.ts";
import { countEligible } from "./auto-assign.sql.ts";
import { assignByFilter, endAutoAssign } from "./auto-assign.ts";
import { filterJson } from "./filter.json.ts";
import { changeFilter, createFilter, getFilter, listFilters, listFiltersOfSet, removeFilter } from "./filters.ts";

let fixture: Fixture;
let deps: Parameters<typeof assignByFilter>[0];

beforeAll(async () => {
  fixture = await createFixture();
  deps = { ...fixture.create, wake: () => {} };
  await fixture.addTargets("t", 10);
  await fixture.addTargets("typed", 3, { typeId: typeIds.compatible });
  await fixture.addTargets("alien", 3, { typeId: typeIds.incompatible });
});
afterAll(() => fixture?.drop());

const admin = (): Principal => fixture.call.principal;
const restrictedTo = (types: number[]): Principal => ({ ...admin(), targetTypeScopes: { READ_TARGET: types, UPDATE_TARGET: types } });
let names = 0;
const filter = (query: string) => createFilter(deps, admin(), { name: `f${++names}`, query });
const assign = (id: number, body: object = {}, principal = admin()) =>
  assignByFilter(deps, id, autoAssignBody.parse({ id: setIds.complete, ...body }), { ...fixture.call, principal });
const quota = (value: number) =>
  fixture.sql(
    `insert into management.quotas (tenant_id, key, value, created_by, last_modified_by)
     values (1, 'TARGETS_PER_AUTO_ASSIGNMENT_MAX_COUNT', $1, 'x', 'x') on conflict (tenant_id, key) do update set value = excluded.value`,
    [value],
  );

test("a set is reserved last, and the auto-assignment stores who set it and their restriction", async () => {
  const id = await filter("name==t-*");
  const before = fixture.reserved.length;
  await expect(assign(id, { id: 5 })).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(assign(id, { id: setIds.invalid })).rejects.toMatchObject({ code: "setInvalid" });
  await expect(assign(id, { id: setIds.incomplete })).rejects.toMatchObject({ code: "setIncomplete" });
  await expect(assign(id, { id: setIds.deleted })).rejects.toMatchObject({ code: "deleted" });
  await expect(assign(id, { type: "timeforced" })).rejects.toMatchObject({ code: "invalidAutoAssignActionType" });
  await expect(assign(999_999)).rejects.toMatchObject({ code: "entityNotFound" });
  expect(fixture.reserved).toHaveLength(before);
  await assign(id, { type: "soft", weight: 0 }, restrictedTo([typeIds.compatible]));
  expect(fixture.reserved).toHaveLength(before + 1);
  expect(await getFilter(deps, 1, id)).toMatchObject({
    setId: setIds.complete,
    forceType: 0,
    weight: 0,
    targetTypes: [typeIds.compatible],
  });
  await endAutoAssign(deps, id, admin());
  expect(await getFilter(deps, 1, id)).toMatchObject({ setId: null });
});

test("the quota counts the targets that would get an action, both when the set is assigned and when the query changes", async () => {
  const id = await filter("name==t-*");
  const tooMany = { code: "quotaTooManyEntries" };
  await quota(9);
  await expect(assign(id)).rejects.toMatchObject(tooMany);
  await quota(10);
  await assign(id);
  await expect(changeFilter(deps, admin(), id, { query: "name==t*" })).rejects.toMatchObject(tooMany);
  expect((await getFilter(deps, 1, id)).query).toBe("name==t-*");
  await changeFilter(deps, admin(), id, { query: "name==typed*,name==alien*" });
  await quota(0);
  await changeFilter(deps, admin(), id, { query: "name==*" });
});

test("a target is eligible if it matches, may have the set, is within reach, never had an action of it and has it not assigned", async () => {
  const count = async (query: string, targetTypes: number[] | null = null) => {
    const selection = { tenantId: 1, setTypeId: 301, targetTypes, filter: parseTargetFilter(query), now: 0, macros: {} };
    const { sql, bindings } = countEligible(selection, setIds.complete, 100);
    const { rows } = await fixture.create.db.pool.query(sql, [...bindings]);
    return rows[0].n;
  };
  expect(await count("name==*")).toBe(13);
  expect(await count("name==*", [typeIds.compatible, typeIds.incompatible])).toBe(3);
  await fixture.sql(
    `insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by,
      created_by, last_modified_by)
    select 1, 5000 + id, id, controller_id, $1, 0, false, 1, 'x', 'x', 'x' from controller.targets where name in ('t-1', 'typed-1')`,
    [setIds.complete],
  );
  await fixture.sql(
    "update controller.target_state s set assigned_set_id = $1 from controller.targets t where t.id = s.target_id and t.name = 't-2'",
    [setIds.complete],
  );
  expect(await count("name==*")).toBe(10);
});

test("of two changes to the same revision the later one is refused, and a name can be used once", async () => {
  const [id, other] = [await filter("name==a"), await filter("name==b")];
  const stale = {
    ...deps,
    catalogue: {
      reserveSet: async (...args: Parameters<typeof deps.catalogue.reserveSet>) => {
        await changeFilter(deps, admin(), id, { query: "name==changed" });
        return deps.catalogue.reserveSet(...args);
      },
    },
  };
  const body = autoAssignBody.parse({ id: setIds.complete });
  await expect(assignByFilter(stale, id, body, fixture.call)).rejects.toMatchObject({ code: "concurrentModification" });
  const taken = { code: "entityAlreadyExists" };
  await expect(changeFilter(deps, admin(), other, { name: (await getFilter(deps, 1, id)).name })).rejects.toMatchObject(taken);
});

test("a deleted or invalidated set is no longer assigned, and other tenants see nothing", async () => {
  const id = await filter("name==nobody");
  await assign(id);
  const page = { offset: 0, limit: 50 };
  expect((await listFiltersOfSet(deps, 1, setIds.complete, { ...page, q: "" })).rows.map((row) => row.id)).toContain(id);
  expect((await listFilters(deps, 2, page)).total).toBe(0);
  await expect(getFilter(deps, 2, id)).rejects.toMatchObject({ code: "entityNotFound" });
  for (const column of ["deleted = not deleted", "valid = not valid"]) {
    const invalidate = () =>
      fixture.sql(`update management.distribution_sets set ${column} where tenant_id = 1 and id = $1`, [setIds.complete]);
    await invalidate();
    const shown = filterJson("", await getFilter(deps, 1, id), { set: true });
    expect(shown).toMatchObject({ autoAssignDistributionSet: null, autoAssignActionType: null, autoAssignWeight: null });
    expect(shown._links).not.toHaveProperty("DS");
    expect((await listFiltersOfSet(deps, 1, setIds.complete, page)).total).toBe(0);
    await invalidate();
  }
});

test("a user cannot change an auto-assignment that reaches further than their grants", async () => {
  const id = await filter("name==nobody");
  const limited = restrictedTo([typeIds.compatible]);
  await changeFilter(deps, limited, id, { query: "name==mine" });
  await assign(id, {}, limited);
  await changeFilter(deps, limited, id, { query: "name==theirs" });
  await assign(id);
  const forbidden = { code: "insufficientPermission" };
  await expect(changeFilter(deps, limited, id, { query: "name==*" })).rejects.toMatchObject(forbidden);
  await expect(assign(id, {}, limited)).rejects.toMatchObject(forbidden);
  await expect(endAutoAssign(deps, id, limited)).rejects.toMatchObject(forbidden);
  await expect(removeFilter(deps, limited, id)).rejects.toMatchObject(forbidden);
  await removeFilter(deps, admin(), id);
  await expect(removeFilter(deps, admin(), id)).rejects.toMatchObject({ code: "entityNotFound" });
});

import type { DistributionSetCreate } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createModules, removeModule } from "../software-modules/software-modules.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { assignModules } from "./assign-modules.ts";
import { changeSet, createSets, getSet, removeSet } from "./distribution-sets.ts";

let fixture: Fixture;
let n = 0;
let os: number[];
let apps: number[];

beforeAll(async () => {
  fixture = await managementFixture();
  const named = (type: string, count: number) =>
    Array.from({ length: count }, () => ({ name: `m-${n++}`, version: "1", type, encrypted: false }));
  os = (await createModules(fixture, fixture.actor, named("os", 3))).map((row) => row.id);
  apps = (await createModules(fixture, fixture.actor, named("application", 3))).map((row) => row.id);
});
afterAll(() => fixture.close());

const set = (members: Partial<DistributionSetCreate>): DistributionSetCreate => ({
  name: `set-${n++}`,
  version: "1",
  requiredMigrationStep: false,
  locked: false,
  modules: [],
  ...members,
});
const refs = (...ids: (number | undefined)[]) => ids.map((id) => ({ id: id ?? 0 }));
const create = (...sets: DistributionSetCreate[]) => createSets({ ...fixture, fault: () => {} }, fixture.actor, sets);
const one = async (members: Partial<DistributionSetCreate>) => {
  const [row] = await create(set(members));
  if (row === undefined) throw new Error("no set");
  return row;
};
const add = (id: number, ...modules: (number | undefined)[]) =>
  assignModules(fixture, fixture.actor, { id, modules: modules.map((module) => module ?? 0) });
const idsOf = async (id: number) => (await getSet(fixture, 1, id)).modules.map((module) => module.id);
const revisionOf = async (id: number) =>
  (await fixture.rows("select revision from distribution_sets where id = $1", [id]))[0]?.["revision"];
const count = async () => (await fixture.rows("select 1 from distribution_sets")).length;

// contract management.md §5.2, §12.49 to §12.51
test.each<[string, () => Partial<DistributionSetCreate>, boolean]>([
  ["default type with os", () => ({ modules: refs(os[0]) }), true],
  ["default type with an application only", () => ({ modules: refs(apps[0]) }), false],
  ["default type with both", () => ({ modules: refs(os[0], apps[0]) }), true],
  ["app with two applications", () => ({ type: "app", modules: refs(apps[0], apps[1]) }), true],
  ["nothing in it", () => ({ type: "os" }), false],
])("a set with %s: complete = %s", async (_, members, complete) => {
  const row = await one(members());
  expect(row).toMatchObject({ complete, valid: true, locked: false, deleted: false, typeKey: members().type ?? "os_app" });
});

test("a type without mandatory modules is complete with any module, not without one", async () => {
  await fixture.rows(
    "insert into distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 90, 'free', 'Free', 't', 't')",
  );
  await fixture.rows("insert into set_type_module_types values (1, 90, 12, false)");
  expect((await one({ type: "free" })).complete).toBe(false);
  expect((await one({ type: "free", modules: refs(apps[0]) })).complete).toBe(true);
});

test("many sets are returned in the order given, each with its modules in the order attached", async () => {
  const rows = await create(
    set({ name: "z", modules: refs(apps[1], os[0], apps[0], apps[1]) }),
    set({ name: "y", description: "d", version: "2" }),
  );
  expect(rows.map((row) => row.name)).toEqual(["z", "y"]);
  expect(rows[0]?.modules.map((module) => module.id)).toEqual([apps[1], os[0], apps[0]]);
  expect(rows[0]?.modules[1]).toMatchObject({ typeKey: "os", name: "m-0", createdBy: "admin" });
  expect(typeof rows[0]?.modules[0]?.createdAt).toBe("number");
  expect(rows[1]).toMatchObject({ description: "d", version: "2", modules: [], migrationStep: false });
});

test("of too many modules of one type the last ones stay", async () => {
  expect((await one({ modules: refs(os[0], os[1]) })).modules.map((module) => module.id)).toEqual([os[1]]);
});

test.each<[string, () => Partial<DistributionSetCreate>, object]>([
  ["an unknown type", () => ({ type: "nope" }), { code: "entityNotFound", info: { type: "DistributionSetType", entityId: "nope" } }],
  [
    "an unknown module",
    () => ({ modules: refs(os[0], 9999) }),
    { code: "entityNotFound", info: { type: "SoftwareModule", entityId: 9999 } },
  ],
  ["a module of another type", () => ({ type: "os", modules: refs(apps[0]) }), { code: "modulesUnsupported" }],
  ["a lock on an incomplete set", () => ({ locked: true }), { code: "setIncomplete" }],
  ["a taken name", () => ({ name: "z", version: "1" }), { code: "entityAlreadyExists" }],
])("a request with %s stores none of the sets", async (_, members, error) => {
  const before = await count();
  await expect(create(set({}), set(members()))).rejects.toMatchObject(error);
  expect(await count()).toBe(before);
});

test("a set that is created locked locks its modules", async () => {
  const [module] = await createModules(fixture, fixture.actor, [{ name: `m-${n++}`, version: "1", type: "os", encrypted: false }]);
  expect(await one({ locked: true, modules: refs(module?.id) })).toMatchObject({ locked: true, modules: [{ locked: true }] });
});

test("only a complete set can be locked, which locks its modules; unlocking leaves them locked", async () => {
  const [module] = await createModules(fixture, fixture.actor, [{ name: `m-${n++}`, version: "1", type: "os", encrypted: false }]);
  const { id } = await one({ modules: refs(module?.id) });
  const change = (members: object) => changeSet(fixture, fixture.actor, { id, change: members });
  expect(await change({ locked: true })).toMatchObject({ locked: true, modules: [{ locked: true }] });
  expect(await change({ locked: false, description: "d" })).toMatchObject({ locked: false, description: "d", modules: [{ locked: true }] });
  expect(await revisionOf(id)).toBe(3);
  const empty = await one({});
  await expect(changeSet(fixture, fixture.actor, { id: empty.id, change: { locked: true } })).rejects.toMatchObject({
    code: "setIncomplete",
  });
  await expect(changeSet(fixture, fixture.actor, { id: 9999, change: {} })).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(change({ name: "z", version: "1" })).rejects.toMatchObject({ code: "entityAlreadyExists" });
});

test("adding a module again changes nothing, one too many replaces the oldest, and completeness is updated", async () => {
  const { id } = await one({ modules: refs(apps[0]) });
  await add(id, apps[0]);
  expect(await revisionOf(id)).toBe(1);
  await add(id, os[0], apps[1]);
  expect(await getSet(fixture, 1, id)).toMatchObject({ complete: true });
  expect(await idsOf(id)).toEqual([apps[0], os[0], apps[1]]);
  await add(id, os[1]);
  expect(await idsOf(id)).toEqual([apps[0], apps[1], os[1]]);
  expect(await revisionOf(id)).toBe(3);
});

test("modules of unlisted types are refused, and so is the hundred and first module", async () => {
  const { id } = await one({ type: "os" });
  await expect(add(id, apps[0])).rejects.toMatchObject({ code: "modulesUnsupported" });
  await expect(add(id, 9999)).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(add(9999, os[0])).rejects.toMatchObject({ code: "entityNotFound", info: { type: "DistributionSet" } });
  const many = await createModules(
    fixture,
    fixture.actor,
    Array.from({ length: 101 }, (_, i) => ({ name: `many-${i}`, version: "1", type: "application", encrypted: false })),
  );
  const { id: app } = await one({ type: "app" });
  await expect(add(app, ...many.map((module) => module.id))).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  await add(app, ...many.slice(1).map((module) => module.id));
  expect(await idsOf(app)).toHaveLength(100);
  // A limit that was lowered below what the set has refuses additions, and nothing else.
  await fixture.setQuota("SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT", 5);
  await add(app, many[1]?.id);
  await expect(add(app, many[0]?.id)).rejects.toMatchObject({
    message: `Quota exceeded: Cannot assign 1 more SoftwareModule entities to DistributionSet '${app}'. The maximum is 5.`,
  });
  await fixture.setQuota("SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT", -1);
  await add(app, many[0]?.id);
  expect(await idsOf(app)).toHaveLength(101);
  await fixture.setQuota("SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT", null);
});

test("a set of an action keeps its modules (403, before the lock's 423) and its migration flag (403), but its name may change", async () => {
  const { id } = await one({ modules: refs(os[2]) });
  await changeSet(fixture, fixture.actor, { id, change: { locked: true } });
  await expect(add(id, apps[0])).rejects.toMatchObject({ code: "locked" });
  await fixture.addAction({ targetId: await fixture.addTarget("dev-fixed"), controllerId: "dev-fixed", setId: id });
  await expect(add(id, apps[0])).rejects.toMatchObject({ code: "entityReadOnly" });
  await expect(changeSet(fixture, fixture.actor, { id, change: { requiredMigrationStep: true } })).rejects.toMatchObject({
    code: "entityReadOnly",
  });
  expect(await changeSet(fixture, fixture.actor, { id, change: { requiredMigrationStep: false, name: "renamed" } })).toMatchObject({
    name: "renamed",
  });
});

test("an invalid set cannot be changed but can be deleted", async () => {
  const { id } = await one({ modules: refs(os[0]) });
  await fixture.rows("update distribution_sets set valid = false where id = $1", [id]);
  await expect(changeSet(fixture, fixture.actor, { id, change: { description: "x" } })).rejects.toMatchObject({ code: "setInvalid" });
  await expect(add(id, apps[0])).rejects.toMatchObject({ code: "setInvalid" });
  await removeSet(fixture, fixture.actor, { id });
});

test("an unused set is deleted for good and frees its name; a set of an action or a rollout stays readable and keeps its name", async () => {
  const given = { name: "short-lived", version: "1", modules: refs(os[0]) };
  const free = await one(given);
  await removeSet(fixture, fixture.actor, { id: free.id });
  await expect(getSet(fixture, 1, free.id)).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(removeSet(fixture, fixture.actor, { id: free.id })).rejects.toMatchObject({ code: "entityNotFound" });

  const held = await one(given);
  await fixture.addAction({
    targetId: await fixture.addTarget("dev-held"),
    controllerId: "dev-held",
    setId: held.id,
    status: 0,
    active: false,
  });
  await removeSet(fixture, fixture.actor, { id: held.id });
  expect(await getSet(fixture, 1, held.id)).toMatchObject({ deleted: true, modules: [{ id: os[0] }] });
  await removeSet(fixture, fixture.actor, { id: held.id });
  await expect(one(given)).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await expect(changeSet(fixture, fixture.actor, { id: held.id, change: {} })).rejects.toMatchObject({ code: "deleted" });

  const rolled = await one({ modules: refs(os[0]) });
  await fixture.asRolloutEngine(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
                           created_by, last_modified_by) values (1, 50, 'r', 'ready', 'name==*', $1, 'n', 'v', 13, false, 1, 't', 't')`,
    [rolled.id],
  );
  await removeSet(fixture, fixture.actor, { id: rolled.id });
  expect(await getSet(fixture, 1, rolled.id)).toMatchObject({ deleted: true });
});

test("two users who change sets and modules at once both succeed", async () => {
  const rows = await create(...Array.from({ length: 8 }, () => set({ type: "app", modules: refs(apps[0]) })));
  const work = rows.flatMap(({ id }) => [
    add(id, apps[1], apps[2]),
    add(id, apps[2], apps[1]),
    changeSet(fixture, fixture.actor, { id, change: { locked: true } }),
  ]);
  const results = await Promise.allSettled(work);
  const codes = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
  expect(codes.filter((code) => code !== "locked")).toEqual([]);
  for (const { id } of rows) expect((await getSet(fixture, 1, id)).modules.every((module) => module.locked)).toBe(true);
});

test("the creation of many sets costs two round trips and one for the ids, the creation of one costs two", async () => {
  await one({});
  expect(await fixture.roundTrips.during(() => one({ modules: refs(os[0], apps[0]) }))).toBe(2);
  expect(await fixture.roundTrips.during(() => create(...Array.from({ length: 20 }, () => set({ modules: refs(os[0]) }))))).toBe(3);
});

test("a module that is deleted while it is added to a set is either in the set or not found", async () => {
  for (let i = 0; i < 10; i++) {
    const [module] = await createModules(fixture, fixture.actor, [{ name: `race-${i}`, version: "1", type: "os", encrypted: false }]);
    const id = module?.id ?? 0;
    const [made] = await Promise.allSettled([one({ modules: refs(id) }), removeModule(fixture, fixture.actor, { id })]);
    const left = await fixture.rows("select deleted from software_modules where id = $1", [id]);
    if (made.status === "fulfilled") expect(left).toHaveLength(1);
    else expect(["entityNotFound", "concurrentModification"]).toContain(made.reason.code);
  }
});

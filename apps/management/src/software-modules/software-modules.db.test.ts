import type { SoftwareModuleCreate } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeSet, createSets, getSet, removeSet } from "../distribution-sets/distribution-sets.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { changeModule, createModules, getModule, removeModule } from "./software-modules.ts";

let fixture: Fixture;
let n = 0;
beforeAll(async () => {
  fixture = await managementFixture();
});
afterAll(() => fixture.close());

const module = (members: Partial<SoftwareModuleCreate> = {}): SoftwareModuleCreate => ({
  name: `module-${n++}`,
  version: "1.0",
  type: "os",
  encrypted: false,
  ...members,
});
const create = (...modules: SoftwareModuleCreate[]) => createModules(fixture, fixture.actor, modules);
const setOf = async (...ids: number[]) => {
  const set = {
    name: `set-${n++}`,
    version: "1",
    type: "os_app",
    requiredMigrationStep: false,
    locked: false,
    modules: ids.map((id) => ({ id })),
  };
  const [row] = await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
  return row?.id ?? 0;
};
const count = async () => (await fixture.rows("select 1 from software_modules")).length;

test("modules are returned in the order given, with their types and audit members", async () => {
  const rows = await create(module({ name: "b", description: "d", vendor: "v" }), module({ name: "a", type: "application" }));
  expect(rows).toMatchObject([
    {
      name: "b",
      version: "1.0",
      description: "d",
      vendor: "v",
      typeKey: "os",
      typeName: "OS",
      locked: false,
      deleted: false,
      createdBy: "admin",
    },
    { name: "a", description: null, vendor: null, typeKey: "application" },
  ]);
  expect(rows[0]?.id).toBeGreaterThanOrEqual(11);
  expect(Math.abs((rows[0]?.createdAt ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(rows[0]?.lastModifiedAt).toBe(rows[0]?.createdAt);
});

test("one invalid module of many keeps all from being stored", async () => {
  const before = await count();
  await expect(create(module(), module({ type: "nope" }))).rejects.toMatchObject({
    code: "entityNotFound",
    info: { type: "SoftwareModuleType", entityId: "nope" },
  });
  await expect(create(module(), module({ encrypted: true }))).rejects.toMatchObject({ code: "encryptionNotSupported" });
  const twin = module();
  await expect(create(twin, module(), twin)).rejects.toMatchObject({ code: "entityAlreadyExists" });
  expect(await count()).toBe(before);
});

test("a name is unique per type, and no module can be of a deleted type", async () => {
  const given = module();
  await create(given, { ...given, type: "application" });
  await expect(create(given)).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await fixture.rows("update software_module_types set deleted = true where key = 'application'");
  await expect(create(module({ type: "application" }))).rejects.toMatchObject({ code: "constraintViolation" });
  await fixture.rows("update software_module_types set deleted = false where key = 'application'");
});

test("an update changes what is given, and increases the revision of the sets with the module", async () => {
  const [row] = await create(module({ description: "d", vendor: "v" }));
  const id = row?.id ?? 0;
  const setId = await setOf(id);
  const revision = () => fixture.rows("select revision from management.distribution_sets_v1 where id = $1", [setId]);
  expect(await revision()).toEqual([{ revision: 1 }]);
  expect(await changeModule(fixture, fixture.actor, { id, change: { vendor: "w" } })).toMatchObject({
    description: "d",
    vendor: "w",
    locked: false,
  });
  expect(await changeModule(fixture, fixture.actor, { id, change: { locked: true } })).toMatchObject({ locked: true, vendor: "w" });
  expect(await changeModule(fixture, fixture.actor, { id, change: { description: "e" } })).toMatchObject({
    locked: true,
    description: "e",
  });
  expect(await revision()).toEqual([{ revision: 4 }]);
  await expect(changeModule(fixture, fixture.actor, { id: 9, change: {} })).rejects.toMatchObject({ code: "entityNotFound" });
});

test("an unused module is deleted for good, one in a set stays readable and keeps its name, and one in a locked set is not deleted", async () => {
  const given = module();
  const [free] = await create(given);
  await removeModule(fixture, fixture.actor, { id: free?.id ?? 0 });
  await expect(getModule(fixture, 1, free?.id ?? 0)).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(removeModule(fixture, fixture.actor, { id: free?.id ?? 0 })).rejects.toMatchObject({ code: "entityNotFound" });

  const [held] = await create(given);
  const id = held?.id ?? 0;
  const setId = await setOf(id);
  await changeSet(fixture, fixture.actor, { id: setId, change: { locked: true } });
  await expect(removeModule(fixture, fixture.actor, { id })).rejects.toMatchObject({ code: "locked" });
  await fixture.addAction({ targetId: await fixture.addTarget("dev-modules"), controllerId: "dev-modules", setId });
  await removeSet(fixture, fixture.actor, { id: setId });
  await removeModule(fixture, fixture.actor, { id });
  expect(await getModule(fixture, 1, id)).toMatchObject({ deleted: true });
  await removeModule(fixture, fixture.actor, { id });
  await expect(create(given)).rejects.toMatchObject({ code: "entityAlreadyExists" });
  expect((await getSet(fixture, 1, setId)).modules).toMatchObject([{ id, deleted: true, locked: true }]);
});

test("targets see only visible metadata, sorted, and 50 entries at most", async () => {
  const [row] = await create(module());
  await fixture.rows(
    `insert into module_metadata (tenant_id, module_id, key, value, target_visible)
     select 1, $1, 'k' || lpad(n::text, 3, '0'), 'v' || n, n % 2 = 0 from generate_series(1, 120) n`,
    [row?.id],
  );
  const { rows } = await fixture.database
    .db("controller")
    .pool.query<{ metadata: { key: string; value: string }[] }>("select metadata from management.software_modules_v1 where id = $1", [
      row?.id,
    ]);
  expect(rows[0]?.metadata).toHaveLength(50);
  expect(rows[0]?.metadata.slice(0, 2)).toEqual([
    { key: "k002", value: "v2" },
    { key: "k004", value: "v4" },
  ]);
});

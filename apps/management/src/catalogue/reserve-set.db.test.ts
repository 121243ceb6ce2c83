import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { assignModules } from "../distribution-sets/assign-modules.ts";
import { createSets, getSet, removeSet } from "../distribution-sets/distribution-sets.ts";
import { createModules } from "../software-modules/software-modules.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { endUse, reserve, reserveAll } from "./reserve-set.ts";

let fixture: Fixture;
let n = 0;
beforeAll(async () => {
  fixture = await managementFixture();
});
afterAll(() => fixture.close());
beforeEach(() => fixture.rows("delete from settings"));

async function newSet(complete = true): Promise<{ id: number; moduleId: number }> {
  const [module] = await createModules(fixture, fixture.actor, [{ name: `m-${n++}`, version: "1", type: "os", encrypted: false }]);
  const moduleId = module?.id ?? 0;
  const set = {
    name: `s-${n++}`,
    version: "7",
    type: "os",
    requiredMigrationStep: true,
    locked: false,
    modules: complete ? [{ id: moduleId }] : [],
  };
  const [row] = await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
  return { id: row?.id ?? 0, moduleId };
}

test("the first use locks the set and its modules and answers what controller needs; a repetition changes nothing", async () => {
  const { id } = await newSet();
  const answer = await reserve(fixture, fixture.actor, id);
  expect(answer).toEqual({ id, name: (await getSet(fixture, 1, id)).name, version: "7", typeId: 11, migrationStep: true, revision: 2 });
  expect(await getSet(fixture, 1, id)).toMatchObject({ locked: true, modules: [{ locked: true }] });
  expect(await reserve(fixture, fixture.actor, id)).toEqual(answer);
  expect(await fixture.roundTrips.during(() => reserve(fixture, fixture.actor, id))).toBe(1);
});

test("concurrent reservations lock a set once", async () => {
  const { id } = await newSet();
  const answers = await Promise.all(Array.from({ length: 5 }, () => reserve(fixture, fixture.actor, id)));
  expect(new Set(answers.map((answer) => answer.revision))).toEqual(new Set([2]));
});

test("without implicit.lock.enabled nothing is locked, in one round trip", async () => {
  await fixture.rows(
    "insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, 'implicit.lock.enabled', 'false', 't', 't')",
  );
  const { id } = await newSet();
  expect(await fixture.roundTrips.during(() => reserve(fixture, fixture.actor, id))).toBe(1);
  expect(await getSet(fixture, 1, id)).toMatchObject({ locked: false, modules: [{ locked: false }] });
});

async function needyType(): Promise<void> {
  await fixture.rows("update software_module_types set min_artifacts = 1 where key = 'os'");
}

async function addArtifact(moduleId: number): Promise<void> {
  await fixture.rows(
    `insert into artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, last_modified_by)
     values (1, $1, $2, 'f', 1, 's', 'm', 'h', 't', 't')`,
    [100_000 + n++, moduleId],
  );
}

test("a set whose modules lack artifacts is refused with their names and never reserved, even if they are deleted meanwhile", async () => {
  const { id, moduleId } = await newSet();
  try {
    await needyType();
    const name = (await getSet(fixture, 1, id)).modules[0]?.name;
    const refused = { code: "setIncomplete", info: { modulesWithoutArtifacts: [`${name}:1`] } };
    await expect(reserve(fixture, fixture.actor, id)).rejects.toMatchObject(refused);
    await addArtifact(moduleId);
    expect((await getSet(fixture, 1, id)).complete).toBe(true);
    // Somebody deletes it: they lock the row of the set as deletions do, and commit while the reservation waits for that row.
    const other = await fixture.db.pool.connect();
    await other.query("begin");
    await other.query("delete from artifacts where module_id = $1", [moduleId]);
    await other.query("update distribution_sets set revision = revision + 1 where id = $1", [id]);
    const waiting = reserve(fixture, fixture.actor, id).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await other.query("commit");
    other.release();
    expect(await waiting).toMatchObject(refused);
    await addArtifact(moduleId);
    expect(await reserve(fixture, fixture.actor, id)).toMatchObject({ id });
  } finally {
    await fixture.rows("update software_module_types set min_artifacts = 0 where key = 'os'");
  }
});

test.each<[string, () => Promise<number>, string]>([
  ["unknown", async () => 9999, "entityNotFound"],
  ["incomplete", async () => (await newSet(false)).id, "setIncomplete"],
  [
    "invalid",
    async () => {
      const { id } = await newSet();
      await fixture.rows("update distribution_sets set valid = false where id = $1", [id]);
      return id;
    },
    "setInvalid",
  ],
  [
    "deleted",
    async () => {
      const { id } = await newSet();
      await fixture.rows("update distribution_sets set deleted = true where id = $1", [id]);
      return id;
    },
    "deleted",
  ],
])("a set is refused and not counted: %s", async (_, make, code) => {
  const id = await make();
  await expect(reserve(fixture, fixture.actor, id)).rejects.toMatchObject({ code });
  expect(await fixture.rows("select 1 from distribution_sets where id = $1 and reservations > 0", [id])).toEqual([]);
});

test("a set with a reservation is deleted softly, one without for good", async () => {
  const busy = await newSet();
  await reserve(fixture, fixture.actor, busy.id);
  await removeSet(fixture, fixture.actor, { id: busy.id });
  expect(await getSet(fixture, 1, busy.id)).toMatchObject({ deleted: true });

  const done = await newSet();
  await reserve(fixture, fixture.actor, done.id);
  await reserve(fixture, fixture.actor, done.id);
  await endUse(fixture, fixture.actor, [done.id]);
  await endUse(fixture, fixture.actor, [done.id]);
  await removeSet(fixture, fixture.actor, { id: done.id });
  await expect(getSet(fixture, 1, done.id)).rejects.toMatchObject({ code: "entityNotFound" });
});

test("several sets are reserved in the order given, in one round trip, all or none", async () => {
  const [a, b] = [await newSet(), await newSet()];
  const reservations = async () =>
    (await fixture.rows("select id, reservations as n from distribution_sets where id = any($1) order by id", [[a.id, b.id]])).map(
      ({ n }) => n,
    );
  expect((await reserveAll(fixture, fixture.actor, [b.id, a.id])).map(({ id }) => id)).toEqual([b.id, a.id]);
  expect(await fixture.roundTrips.during(() => reserveAll(fixture, fixture.actor, [a.id, b.id]))).toBe(1);
  expect(await reservations()).toEqual([2, 2]);
  await endUse(fixture, fixture.actor, [a.id, b.id]);
  await fixture.rows("update distribution_sets set valid = false where id = $1", [b.id]);
  await expect(reserveAll(fixture, fixture.actor, [a.id, b.id])).rejects.toMatchObject({ code: "setInvalid" });
  await expect(reserveAll(fixture, fixture.actor, [a.id, 4711])).rejects.toMatchObject({ code: "entityNotFound" });
  expect(await reservations()).toEqual([1, 1]);
});

test("where one set cannot be locked, all reservations are released", async () => {
  const [a, b] = [await newSet(), await newSet()];
  let connections = 0;
  // A single statement takes its connection with a callback, a transaction without one.
  const connect = (...callback: [never]) =>
    callback.length > 0 || ++connections === 1 ? fixture.db.pool.connect(...callback) : Promise.reject(new Error("gone"));
  const pool: typeof fixture.db.pool = Object.create(fixture.db.pool, { connect: { value: connect } });
  await expect(reserveAll({ db: { ...fixture.db, pool } }, fixture.actor, [a.id, b.id])).rejects.toThrow("gone");
  expect([(await getSet(fixture, 1, a.id)).locked, (await getSet(fixture, 1, b.id)).locked]).toEqual([true, false]);
  const left = await fixture.rows("select 1 from distribution_sets where id = any($1) and reservations > 0", [[a.id, b.id]]);
  expect(left).toEqual([]);
});

test("crossing reservations of the same sets do not deadlock", async () => {
  const sets = [await newSet(), await newSet(), await newSet()].map(({ id }) => id);
  await reserveAll(fixture, fixture.actor, sets);
  const all = Array.from({ length: 20 }, (_, i) => reserveAll(fixture, fixture.actor, i % 2 === 0 ? sets : sets.toReversed()));
  expect(await Promise.all(all)).toHaveLength(20);
  expect(await fixture.rows("select distinct reservations as n from distribution_sets where id = any($1)", [sets])).toEqual([{ n: 21 }]);
});

test("a reservation that was not ended counts for a minute", async () => {
  const { id } = await newSet();
  await reserve(fixture, fixture.actor, id);
  await fixture.rows("update distribution_sets set reserved_at = now() - interval '61 s' where id = $1", [id]);
  await reserve(fixture, fixture.actor, id);
  expect(await fixture.rows("select reservations from distribution_sets where id = $1", [id])).toEqual([{ reservations: 1 }]);
  await fixture.rows("update distribution_sets set reserved_at = now() - interval '61 s' where id = $1", [id]);
  await removeSet(fixture, fixture.actor, { id });
  await expect(getSet(fixture, 1, id)).rejects.toMatchObject({ code: "entityNotFound" });
});

test("a reservation and a deletion at once leave either a reservation and a readable set, or neither", async () => {
  for (let i = 0; i < 15; i++) {
    const { id } = await newSet();
    const [reserved] = await Promise.allSettled([reserve(fixture, fixture.actor, id), removeSet(fixture, fixture.actor, { id })]);
    const left = await fixture.rows("select deleted from distribution_sets where id = $1", [id]);
    if (reserved.status === "fulfilled") expect(left).toEqual([{ deleted: true }]);
    else expect(["entityNotFound", "deleted"]).toContain(reserved.reason.code);
  }
});

test("modules that are added while the set is being locked are locked with it", async () => {
  for (let i = 0; i < 10; i++) {
    const { id } = await newSet();
    await fixture.rows("update distribution_sets set type_id = 13 where id = $1", [id]);
    const [app] = await createModules(fixture, fixture.actor, [{ name: `a-${n++}`, version: "1", type: "application", encrypted: false }]);
    const results = await Promise.allSettled([
      reserve(fixture, fixture.actor, id),
      assignModules(fixture, fixture.actor, { id, modules: [app?.id ?? 0] }),
    ]);
    for (const result of results) if (result.status === "rejected") expect(result.reason.code).toBe("locked");
    expect((await getSet(fixture, 1, id)).modules.every((module) => module.locked)).toBe(true);
  }
});

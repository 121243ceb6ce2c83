import { quotaDefaults } from "@harrier/contracts";
import { createDatabase, type Database, IdBlocks } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { deviceNamed } from "../device.fixture.ts";
import { registerTarget } from "../poll/registration.ts";
import { createTargets, type TargetDeps } from "./targets.ts";

let fixture: CommandsFixture;
/** Two replicas, each with connections and ids of its own. */
let replicas: { db: Database; ids: IdBlocks }[];
let max = 0;
const limits = () => ({ ...quotaDefaults, TARGETS_MAX_COUNT: max });

beforeAll(async () => {
  fixture = await commandsFixture();
  replicas = [0, 1].map((n) => {
    const db = createDatabase({ url: fixture.database.urlOf("controller"), applicationName: `replica ${n}`, max: 6 });
    return { db, ids: new IdBlocks(db.pool) };
  });
});
afterAll(async () => {
  for (const { db } of replicas) await db.close();
  await fixture.close();
});
beforeEach(async () => {
  max = 0;
  await fixture.db.pool.query("delete from targets");
});

const register = (controllerId: string, replica = 0) =>
  registerTarget(
    { ...(replicas[replica] as (typeof replicas)[0]), secrets: fixture.secrets, limits },
    { device: deviceNamed(controllerId), address: null, mayRegister: true },
  );
const create = (names: readonly string[], context = contextOf(), replica = 0) => {
  const deps: TargetDeps = { ...(replicas[replica] as (typeof replicas)[0]), secrets: fixture.secrets, limits, fault: () => undefined };
  return createTargets(deps, { targets: names.map((controllerId) => ({ controllerId, name: "n" })) as never }, context);
};
const names = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i}`);
const stored = async () => (await fixture.db.pool.query("select count(*)::int as n from targets")).rows[0].n;
const counted = async () =>
  (await fixture.database.db("management").pool.query("select coalesce(sum(n), 0)::int as n from controller.target_counts_v1")).rows[0].n;
const full = { code: "quotaTooManyEntries" };
const settled = async (work: Promise<unknown>[]) => {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject(full);
  return results.filter((result) => result.status === "fulfilled").length;
};

test("a registration beyond the limit is denied with hawkBit's message; a known target is served", async () => {
  max = 2;
  await register("a");
  await register("b");
  await expect(register("c")).rejects.toMatchObject({
    ...full,
    message: "Quota exceeded: Cannot assign 1 more Target entities to Tenant 'DEFAULT'. The maximum is 2.",
  });
  await register("a"); // This is the loser of two first polls.
  expect(await stored()).toBe(2);
  max = 0;
  await register("c");
  max = -1;
  await register("d");
  expect(await stored()).toBe(4);
});

test("devices that are denied use up no ids", async () => {
  max = 1;
  await register("a");
  const next = async () => (await fixture.db.pool.query("select next_id from id_counters where kind = 'target'")).rows[0].next_id;
  const before = await next();
  for (const name of names("late", 120)) await expect(register(name)).rejects.toMatchObject(full);
  expect(await next()).toBe(before);
});

test("a create is all or none; a repeated command gets its first answer even when the tenant is full by now", async () => {
  max = 5;
  await create(names("first", 3));
  await expect(create(names("second", 3))).rejects.toMatchObject({
    ...full,
    message: "Quota exceeded: Cannot assign 3 more Target entities to Tenant 'DEFAULT'. The maximum is 5.",
  });
  expect(await stored()).toBe(3);
  const again = contextOf({}, "fills the tenant");
  const { targets } = await create(names("third", 2), again);
  expect((await create(names("third", 2), again)).targets).toEqual(targets);
  await fixture.targets.deleteTargets({ controllerIds: ["first-0"], ifRevisions: [] }, contextOf());
  await register("in its place");
  expect(await counted()).toBe(5);
});

test("the count follows what is inserted, deleted, rejected and rolled back", async () => {
  await create(names("bulk", 1_000));
  expect(await counted()).toBe(1_000);
  await fixture.targets.deleteTargets({ controllerIds: names("bulk", 400), ifRevisions: [] }, contextOf());
  await expect(create(["new", "bulk-500"])).rejects.toMatchObject({ code: "entityAlreadyExists" });
  expect([await counted(), await stored()]).toEqual([600, 600]);
});

test("concurrent registrations and creates on two replicas reach the limit and never exceed it", async () => {
  max = 40;
  const contacts = names("contact", 60).map((name, i) => register(name, i % 2));
  const bulks = Array.from({ length: 6 }, (_, i) => create(names(`bulk${i}`, 7), contextOf(), i % 2));
  await settled([...contacts, ...bulks]);
  const after = await stored();
  expect(after).toBeLessThanOrEqual(40);
  expect(await counted()).toBe(after);
  expect(await settled(names("more", 60).map((name, i) => register(name, i % 2)))).toBe(40 - after);
  expect(await stored()).toBe(40);
});

test("switching between concurrent and serial creation never exceeds the limit", async () => {
  max = 10_020;
  const deletes = fixture.targets.deleteTargets({ controllerIds: ["nobody"], ifRevisions: [] }, contextOf());
  const singles = names("single", 80).map((name, i) => register(name, i % 2));
  const bulk = create(names("many", 9_970), contextOf(), 1);
  await Promise.all([deletes, settled([...singles, bulk])]);
  expect(await settled(names("rest", 100).map((name, i) => register(name, i % 2)))).toBeLessThanOrEqual(100);
  expect(await stored()).toBeLessThanOrEqual(10_020);
  expect(await counted()).toBe(await stored());
});

test("a registration stays one round trip, with a limit and without", async () => {
  const deps = { db: fixture.db, ids: fixture.ids, secrets: fixture.secrets, limits };
  const first = (controllerId: string) => registerTarget(deps, { device: deviceNamed(controllerId), address: null, mayRegister: true });
  expect(await fixture.roundTrips.during(() => first("x"))).toBe(1);
  max = 20_000;
  expect(await fixture.roundTrips.during(() => first("y"))).toBe(1);
  max = 3;
  expect(await fixture.roundTrips.during(() => first("z"))).toBe(1);
});

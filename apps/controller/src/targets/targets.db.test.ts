import { digest } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  itemOf,
  progressOf,
  reservedSet,
  runGroup,
  seedMembers,
} from "../commands.fixture.ts";
import { readOutbox, readTarget } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.database
    .db("management")
    .pool.query("insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 'a', 'a')");
});
afterAll(() => fixture.close());

const create = (targets: object[], context = contextOf()) =>
  fixture.targets.createTargets({ targets: targets.map((t) => ({ name: "n", ...t })) as never }, context);

const storedTarget = async (controllerId: string) =>
  (await fixture.db.pool.query("select * from targets where tenant_id = 1 and controller_id = $1", [controllerId])).rows[0];

const credentialChanges = async () =>
  (await fixture.db.pool.query("select controller_id from credential_changes order by id")).rows.map((r) => r.controller_id);

test("creates targets with their state; tokens are stored as digest and cipher only", async () => {
  const { targets = [] } = await create([
    { controllerId: "a", name: "first", description: "d", address: "http://10.0.0.1", securityToken: "secret", targetTypeId: 7 },
    { controllerId: "b" },
  ]);
  expect(targets).toMatchObject([
    { controllerId: "a", securityToken: "secret" },
    { controllerId: "b", securityToken: expect.stringMatching(/^[0-9a-f]{32}$/) },
  ]);
  const a = await storedTarget("a");
  expect(a).toMatchObject({
    name: "first",
    description: "d",
    address: "http://10.0.0.1",
    target_type_id: 7,
    created_by: "admin",
    revision: 1,
  });
  expect(a.token_digest).toEqual(digest("secret"));
  expect(fixture.secrets.open(a.token_cipher)).toBe("secret");
  expect(JSON.stringify(a)).not.toContain("secret");
  expect(await readTarget(fixture, a.id)).toMatchObject({ updateStatus: 0, requestAttributes: true, assignedSetId: null });
  expect((await readOutbox(fixture)).at(-1)).toMatchObject({
    topic: "target-events",
    type: "io.update.target.created.v1",
    items: [
      { subject: "targets/a", sequence: 1, data: { controllerId: "a", name: "first" } },
      { subject: "targets/b", sequence: 1 },
    ],
  });
});

test("a known id, a duplicate and an unknown type reject the whole request", async () => {
  await expect(create([{ controllerId: "c" }, { controllerId: "a" }])).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await expect(create([{ controllerId: "c" }, { controllerId: "c" }])).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await expect(create([{ controllerId: "c" }, { controllerId: "d", targetTypeId: 99 }])).rejects.toMatchObject({
    code: "entityNotFound",
    info: { type: "TargetType", entityId: 99 },
  });
  expect(await storedTarget("c")).toBeUndefined();
});

test("attributes that are declined are not requested, from the creation on; a duplicate is named", async () => {
  const [made] = (
    await create([
      { controllerId: "silent", requestAttributes: false },
      { controllerId: "asked", requestAttributes: true },
    ])
  ).targets as { id: number }[];
  expect(await readTarget(fixture, made?.id ?? 0)).toMatchObject({ requestAttributes: false });
  await expect(create([{ controllerId: "new" }, { controllerId: "silent", requestAttributes: false }])).rejects.toMatchObject({
    code: "entityAlreadyExists",
    info: { duplicate: { controllerId: "silent" } },
  });
  expect(await storedTarget("new")).toBeUndefined();
});

test("a repeated command gets the first answer with its tokens, and the stored answer has none", async () => {
  const once = contextOf({}, "create once");
  const [first, second] = await Promise.all([create([{ controllerId: "e" }], once), create([{ controllerId: "e" }], once)]);
  expect(second).toEqual(first);
  expect(await create([{ controllerId: "e" }], once)).toEqual(first);
  const { rows } = await fixture.db.pool.query("select answer::text from commands where command_id = 'create once'");
  expect(rows).toHaveLength(1);
  expect(rows[0].answer).not.toContain(first.targets?.[0]?.securityToken);
  await expect(create([{ controllerId: "e" }])).rejects.toMatchObject({ code: "entityAlreadyExists" });
});

test("a user restricted to target types creates, changes and deletes only those", async () => {
  await create([{ controllerId: "plain" }, { controllerId: "typed", targetTypeId: 7 }]);
  const limited = contextOf({ targetTypeScopes: { CREATE_TARGET: [7], UPDATE_TARGET: [7], DELETE_TARGET: [7] } });
  await expect(create([{ controllerId: "x" }], limited)).rejects.toMatchObject({ code: "insufficientPermission" });
  await expect(fixture.targets.updateTarget({ controllerId: "plain", name: "y" } as never, limited)).rejects.toMatchObject({
    info: { type: "Target", entityId: "plain" },
  });
  for (const targetTypeId of [-1, 8]) {
    await expect(fixture.targets.updateTarget({ controllerId: "typed", targetTypeId } as never, limited)).rejects.toMatchObject({
      code: "insufficientPermission",
    });
  }
  await fixture.targets.updateTarget({ controllerId: "typed", targetTypeId: 7, name: "z" } as never, limited);
  expect(await fixture.targets.deleteTargets({ controllerIds: ["plain", "typed"], ifRevisions: [] }, limited)).toEqual({ deleted: 1 });
  expect(await storedTarget("plain")).toMatchObject({ name: "n" });
});

test("changes what is given; a new token is evicted by the gateways", async () => {
  await create([{ controllerId: "u", description: "old", securityToken: "t0", targetTypeId: 7 }]);
  const before = await credentialChanges();
  const update = (change: object) =>
    fixture.targets.updateTarget({ controllerId: "u", ...change } as never, contextOf({ subject: "editor" }));
  expect(await fixture.roundTrips.during(() => update({ name: "new", address: "amqp://x/y" }))).toBe(1);
  expect(await storedTarget("u")).toMatchObject({ name: "new", description: "old", address: "amqp://x/y", target_type_id: 7, revision: 2 });
  expect(await storedTarget("u")).toMatchObject({ last_modified_by: "editor", created_by: "admin" });
  await update({ targetTypeId: -1 });
  expect(await storedTarget("u")).toMatchObject({ target_type_id: null });
  await expect(update({ targetTypeId: 99 })).rejects.toMatchObject({ info: { type: "TargetType", entityId: 99 } });
  await update({ securityToken: "t0" });
  expect(await credentialChanges()).toEqual(before);
  await update({ securityToken: "t1" });
  expect(await credentialChanges()).toEqual([...before, "u"]);
  expect(await fixture.targets.readSecurityTokens({ controllerIds: ["u", "nobody"] }, contextOf())).toEqual({ tokens: { u: "t1" } });
  await expect(fixture.targets.readSecurityTokens({ controllerIds: ["u"] }, contextOf({ permissions: [] }))).rejects.toMatchObject({
    code: "insufficientPermission",
  });
  await fixture.db.pool.query("update target_state set request_attributes = false");
  await update({ requestAttributes: true });
  expect(await readTarget(fixture, (await storedTarget("u")).id)).toMatchObject({ requestAttributes: true });
});

test("deletes with everything a target owns, in one round trip; its group subtracts it, and the id can be used again", async () => {
  const { targets = [] } = await create([{ controllerId: "gone" }, { controllerId: "stays" }]);
  const [gone = 0, stays = 0] = targets.map((t) => Number(t.id));
  await seedMembers(fixture, { rolloutId: 1, groupId: 1 }, [gone, stays]);
  await runGroup(fixture, chunkOf(1));
  await fixture.actions.assignSet({ set: reservedSet(101), items: [itemOf("gone")], initiator: "admin" }, contextOf());
  await fixture.db.pool.query("insert into target_attributes values (1, $1, 'k', 'v')", [gone]);
  await fixture.db.pool.query("insert into target_polls (tenant_id, target_id, last_poll_at) values (1, $1, now())", [gone]);
  const actions = (await fixture.db.pool.query("select id from actions where target_id = $1", [gone])).rows.map((r) => r.id);
  expect(actions).toHaveLength(2);
  expect(await progressOf(fixture, 1)).toEqual([0, 2, 0, 0, 0]);

  const roundTrips = await fixture.roundTrips.during(async () => {
    expect(await fixture.targets.deleteTargets({ controllerIds: ["gone", "nobody"], ifRevisions: [] }, contextOf())).toEqual({
      deleted: 1,
    });
  });
  expect(roundTrips).toBe(1);
  for (const table of [
    "targets where id",
    "target_state where target_id",
    "target_polls where target_id",
    "target_attributes where target_id",
    "actions where target_id",
  ]) {
    expect((await fixture.db.pool.query(`select from ${table} = $1`, [gone])).rows, table).toEqual([]);
  }
  expect((await fixture.db.pool.query("select from action_history where action_id = any($1::bigint[])", [actions])).rows).toEqual([]);
  expect(await progressOf(fixture, 1)).toEqual([0, 1, 0, 0, 0]);
  expect(await credentialChanges()).toContain("gone");
  expect((await readOutbox(fixture)).at(-1)).toMatchObject({
    type: "io.update.target.deleted.v1",
    items: [{ subject: "targets/gone", data: { controllerId: "gone" } }],
  });
  expect((await create([{ controllerId: "gone" }])).targets).toMatchObject([{ controllerId: "gone" }]);
  expect(await fixture.targets.deleteTargets({ controllerIds: [], ifRevisions: [] }, contextOf())).toEqual({ deleted: 0 });
});

test("by internal ids: deleted targets are not counted, a new one of the same name stays, and a scope still applies", async () => {
  const made = await create([{ controllerId: "i1" }, { controllerId: "i2" }, { controllerId: "i3", targetTypeId: 7 }]);
  const [one = 0, two = 0, three = 0] = (made.targets ?? []).map((t) => Number(t.id));
  const byId = (targetIds: number[], principal = {}) =>
    fixture.targets.deleteTargetsById({ targetIds, initiator: "somebody" }, contextOf(principal));
  expect(await fixture.roundTrips.during(() => byId([one]))).toBe(1);
  await create([{ controllerId: "i1" }]);
  expect(await byId([one, two, 4_711])).toEqual({ deleted: 1 });
  expect(await storedTarget("i1")).toBeDefined();
  expect(await storedTarget("i2")).toBeUndefined();
  expect((await readOutbox(fixture)).at(-1)).toMatchObject({
    type: "io.update.target.deleted.v1",
    items: [{ subject: "targets/i2", data: { controllerId: "i2", targetId: two, initiatedBy: "somebody" } }],
  });
  expect(await credentialChanges()).toContain("i2");
  expect(await byId([three], { targetTypeScopes: { DELETE_TARGET: [8] } })).toEqual({ deleted: 0 });
  expect(await byId([three], { tenantId: 2 })).toEqual({ deleted: 0 });
  expect(await byId([three], { targetTypeScopes: { DELETE_TARGET: [7] } })).toEqual({ deleted: 1 });
  expect(await byId([])).toEqual({ deleted: 0 });
});

test("a command that is rejected stores nothing under its id", async () => {
  const context = contextOf({}, "refused");
  await expect(create([{ controllerId: "a" }], context)).rejects.toMatchObject({ code: "entityAlreadyExists" });
  expect((await create([{ controllerId: "later" }], context)).targets).toHaveLength(1);
});

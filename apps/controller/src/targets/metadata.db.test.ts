import { quotaDefaults } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  const { pool } = fixture.database.db("management");
  await pool.query(`insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 'a', 'a')`);
  const targets = [
    { controllerId: "a", name: "a" },
    { controllerId: "full", name: "f" },
    { controllerId: "typed", name: "t", targetTypeId: 7 },
  ];
  await fixture.targets.createTargets({ targets }, contextOf());
});
afterAll(() => fixture.close());

const add = (controllerId: string, entries: { key: string; value?: string }[], context = contextOf()) =>
  fixture.targets.addMetadata({ controllerId, entries, overwrite: false }, context);

async function stored(controllerId: string): Promise<[string, string | null][]> {
  const { rows } = await fixture.db.pool.query(
    `select m.key, m.value from target_metadata_v1 m join targets t on t.tenant_id = m.tenant_id and t.id = m.target_id
      where t.controller_id = $1 order by m.key`,
    [controllerId],
  );
  return rows.map((row) => [row.key, row.value]);
}

const audit = async (controllerId: string) =>
  (await fixture.db.pool.query("select revision, last_modified_by from targets where controller_id = $1", [controllerId])).rows[0];

test("entries are added all or none, changed and removed in one round trip each; the target's audit members change", async () => {
  const before = await audit("a");
  expect(
    await fixture.roundTrips.during(() => add("a", [{ key: "k", value: "v" }, { key: "bare" }], contextOf({ subject: "editor" }))),
  ).toBe(1);
  expect(await audit("a")).toEqual({ revision: before.revision + 1, last_modified_by: "editor" });
  const taken = (key: string) => ({ code: "entityAlreadyExists", info: { duplicate: { key } } });
  await expect(add("a", [{ key: "n" }, { key: "k" }])).rejects.toMatchObject(taken("k"));
  await expect(add("a", [{ key: "n" }, { key: "n" }])).rejects.toMatchObject(taken("n"));
  expect(await stored("a")).toEqual([
    ["bare", null],
    ["k", "v"],
  ]);
  const change = (key: string, value?: string) =>
    fixture.targets.changeMetadata({ ifRevisions: [], controllerId: "a", key, ...(value === undefined ? {} : { value }) }, contextOf());
  expect(await change("k", "w")).toEqual({ value: "w" });
  expect(await change("k")).toEqual({ value: "w" });
  expect(await change("bare")).toEqual({});
  await expect(change("none", "x")).rejects.toMatchObject({ code: "entityNotFound", info: { entityId: "a", key: "none" } });
  await fixture.targets.removeMetadata({ controllerId: "a", key: "bare" }, contextOf());
  await expect(fixture.targets.removeMetadata({ controllerId: "a", key: "bare" }, contextOf())).rejects.toMatchObject({
    info: { key: "bare" },
  });
  expect(await stored("a")).toEqual([["k", "w"]]);
  for (const call of [
    () => add("nobody", [{ key: "k" }]),
    () => fixture.targets.changeMetadata({ ifRevisions: [], controllerId: "nobody", key: "k" }, contextOf()),
    () => fixture.targets.removeMetadata({ controllerId: "nobody", key: "k" }, contextOf()),
  ]) {
    await expect(call()).rejects.toMatchObject({ info: { type: "Target", entityId: "nobody" } });
  }
});

test("a repeated addition gets the answer of the first one", async () => {
  const once = contextOf({}, "add once");
  await Promise.all([add("a", [{ key: "once" }], once), add("a", [{ key: "once" }], once)]);
  await add("a", [{ key: "once" }], once);
  await expect(add("a", [{ key: "once" }])).rejects.toMatchObject({ code: "entityAlreadyExists" });
});

test("existing entries are overwritten in one round trip; a repetition does nothing; only new ones count for the limit", async () => {
  const [context, id] = [contextOf({}, "put once"), "put"];
  await fixture.targets.createTargets({ targets: [{ controllerId: id, name: id }] }, contextOf());
  const put = (entries: { key: string; value?: string }[], given = contextOf()) =>
    fixture.targets.addMetadata({ controllerId: id, entries, overwrite: true }, given);
  expect(await fixture.roundTrips.during(() => put([{ key: "a", value: "1" }, { key: "b" }], context))).toBe(1);
  await put([
    { key: "a", value: "2" },
    { key: "c", value: "2" },
  ]);
  await put([{ key: "a", value: "1" }, { key: "b" }], context);
  const now: [string, string | null][] = [
    ["a", "2"],
    ["b", null],
    ["c", "2"],
  ];
  expect(await stored(id)).toEqual(now);
  const many = Array.from({ length: 98 }, (_, n) => ({ key: `n${n}` }));
  await expect(put([{ key: "a", value: "3" }, ...many])).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  expect(await stored(id)).toEqual(now);
  await put([{ key: "a", value: "3" }, ...many.slice(1)]);
  expect(await stored(id)).toHaveLength(100);
});

test("no target exceeds the limit, however many additions are concurrent", async () => {
  const entries = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => ({ key: `${prefix}${i}` }));
  const max = quotaDefaults.METADATA_PER_TARGET_MAX_COUNT;
  await add("full", entries("a", max - 3));
  await expect(add("full", entries("b", 4))).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  const answers = await Promise.allSettled(["c", "d", "e"].map((prefix) => add("full", entries(prefix, 2))));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await stored("full")).toHaveLength(max - 1);
});

test("target types restrict who writes metadata; a user without the right to change targets is restricted as for reading", async () => {
  const writer = contextOf({ permissions: ["UPDATE_TARGET"], targetTypeScopes: { UPDATE_TARGET: [7], READ_TARGET: [] } });
  const reader = contextOf({ permissions: ["UPDATE_REPOSITORY", "READ_TARGET"], targetTypeScopes: { READ_TARGET: [7] } });
  for (const context of [writer, reader]) {
    await expect(fixture.targets.removeMetadata({ controllerId: "a", key: "k" }, context)).rejects.toMatchObject({
      info: { type: "Target", entityId: "a" },
    });
  }
  await add("typed", [{ key: "k" }], writer);
  await fixture.targets.removeMetadata({ controllerId: "typed", key: "k" }, reader);
  await add("typed", [{ key: "k" }]);
  await fixture.targets.deleteTargets({ controllerIds: ["typed"], ifRevisions: [] }, contextOf());
  expect((await fixture.db.pool.query("select count(*)::int as n from target_metadata where key = 'k'")).rows[0].n).toBe(1);
});

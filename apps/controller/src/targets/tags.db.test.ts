import { runOne } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { sweepTags } from "../maintenance/maintenance.sql.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  const { pool } = fixture.database.db("management");
  await pool.query(`insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 'a', 'a')`);
  await pool.query(`insert into target_tags (tenant_id, id, name, created_by, last_modified_by)
                    select 1, i, 'tag ' || i, 'a', 'a' from generate_series(1, 3) i`);
  await fixture.targets.createTargets(
    {
      targets: ["a", "b", "typed"].map((controllerId) => ({
        controllerId,
        name: controllerId,
        ...(controllerId === "typed" ? { targetTypeId: 7 } : {}),
      })),
    },
    contextOf(),
  );
});
afterAll(() => fixture.close());

const change = (tagId: number, controllerIds: string[], more: { assign?: boolean; onlyAll?: boolean; scope?: number[] } = {}) =>
  fixture.targets.changeTag(
    { tagId, controllerIds, assign: more.assign ?? true, onlyAll: more.onlyAll ?? true },
    contextOf(more.scope === undefined ? {} : { targetTypeScopes: { UPDATE_TARGET: more.scope } }),
  );

const tagged = async (tagId: number): Promise<string[]> => {
  const { rows } = await fixture.db.pool.query(
    `select t.controller_id as id from target_tag_links_v1 l join targets t on t.tenant_id = l.tenant_id and t.id = l.target_id
      where l.tenant_id = 1 and l.tag_id = $1 order by 1`,
    [tagId],
  );
  return rows.map((row) => row.id);
};

test("all targets get the tag or, where one is missing, none; or those that exist", async () => {
  expect(await change(1, ["a", "nobody", "b"])).toEqual({ missing: ["nobody"] });
  expect(await tagged(1)).toEqual([]);
  expect(await change(1, ["a", "nobody", "b", "a"], { onlyAll: false })).toEqual({ missing: ["nobody"] });
  expect(await tagged(1)).toEqual(["a", "b"]);
  expect(await change(1, ["a", "b"])).toEqual({ missing: [] });
  expect(await change(1, ["b", "typed"], { assign: false })).toEqual({ missing: [] });
  expect(await tagged(1)).toEqual(["a"]);
  await expect(change(99, ["a"])).rejects.toMatchObject({ code: "entityNotFound" });
});

test("targets outside the caller's target types do not exist for the caller", async () => {
  expect(await change(2, ["a", "typed"], { scope: [7] })).toEqual({ missing: ["a"] });
  expect(await change(2, ["a", "typed"], { scope: [7], onlyAll: false })).toEqual({ missing: ["a"] });
  expect(await tagged(2)).toEqual(["typed"]);
  expect(await change(2, ["typed"], { scope: [], assign: false })).toEqual({ missing: ["typed"] });
  expect(await tagged(2)).toEqual(["typed"]);
});

test("links to a deleted tag are swept in chunks, the others stay; links are deleted with their target", async () => {
  await change(3, ["a", "b", "typed"]);
  await fixture.database.db("management").pool.query("delete from target_tags where tenant_id = 1 and id = 3");
  const sweep = async () => (await runOne(fixture.db.pool, sweepTags, [2]))?.swept;
  expect([await sweep(), await sweep(), await sweep()]).toEqual([2, 1, 0]);
  expect([await tagged(1), await tagged(2), await tagged(3)]).toEqual([["a"], ["typed"], []]);
  await fixture.targets.deleteTargets({ controllerIds: ["typed"], ifRevisions: [] }, contextOf());
  expect(await tagged(2)).toEqual([]);
});

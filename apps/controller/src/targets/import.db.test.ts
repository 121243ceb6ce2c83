import { runOne } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { sweepImports } from "../maintenance/maintenance.sql.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.database
    .db("management")
    .pool.query("insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 'a', 'a')");
});
afterAll(() => fixture.close());

interface Piece {
  importId: string;
  ids: readonly (string | { controllerId: string; targetTypeId?: number; securityToken?: string })[];
  last?: boolean;
  skip?: boolean;
  discard?: boolean;
  from?: number;
}

const send = ({ importId, ids, last = true, skip = false, discard = false, from = 2 }: Piece, context = contextOf()) => {
  const targets = ids.map((given, n) => {
    const target = typeof given === "string" ? { controllerId: given } : given;
    return { line: from + n, target: { name: target.controllerId, ...target } };
  });
  return fixture.targets.importTargets({ importId, targets, last, skip, discard } as never, context);
};

const count = async (table: string, where = "true"): Promise<number> =>
  (await fixture.db.pool.query(`select count(*)::int as n from ${table} where ${where}`)).rows[0].n;

test("pieces become targets with the last one, which may be repeated", async () => {
  expect(await send({ importId: "i1", ids: ["a", { controllerId: "b", targetTypeId: 7, securityToken: "t" }], last: false })).toEqual({});
  await send({ importId: "i1", ids: ["a", { controllerId: "b", targetTypeId: 7, securityToken: "t" }], last: false });
  expect(await count("targets")).toBe(0);
  const done = await send({ importId: "i1", ids: ["c"], from: 4 });
  expect(done).toEqual({ created: 3, failed: 0, problems: [] });
  expect(await send({ importId: "i1", ids: [] })).toEqual(done);
  expect(await count("target_state")).toBe(3);
  expect(await count("target_imports")).toBe(0);
  expect(await fixture.targets.readSecurityTokens({ controllerIds: ["b", "a"] }, contextOf())).toMatchObject({ tokens: { b: "t" } });
  const { rows } = await fixture.db.pool.query("select items from outbox where type = 'io.update.target.created.v1'");
  expect(rows.flatMap((row) => row.items.map((item: { subject: string }) => item.subject))).toEqual([
    "targets/a",
    "targets/b",
    "targets/c",
  ]);
});

test("if one line cannot be created, none is; with `skip` the others are", async () => {
  const ids = ["x", "a", "y", "x", { controllerId: "z", targetTypeId: 99 }];
  const problems = [
    { line: 3, controllerId: "a", code: "entityAlreadyExists" },
    { line: 5, controllerId: "x", code: "entityAlreadyExists" },
    { line: 6, controllerId: "z", targetTypeId: 99, code: "entityNotFound" },
  ];
  const before = await count("targets");
  expect(await send({ importId: "i2", ids })).toEqual({ created: 0, failed: 3, problems });
  expect([await count("targets"), await count("target_imports")]).toEqual([before, 0]);
  expect(await send({ importId: "i3", ids: ["p"], discard: true })).toEqual({ created: 0, failed: 0, problems: [] });
  expect(await count("targets")).toBe(before);
  expect(await send({ importId: "i4", ids, skip: true })).toEqual({ created: 2, failed: 3, problems });
});

test("a user restricted to target types imports only those; a full tenant imports none", async () => {
  const limited = contextOf({ targetTypeScopes: { CREATE_TARGET: [7] } });
  const ids = ["l1", { controllerId: "l2", targetTypeId: 7 }];
  expect(await send({ importId: "i5", ids, skip: true }, limited)).toMatchObject({
    created: 1,
    problems: [{ controllerId: "l1", code: "insufficientPermission" }],
  });
  expect(await send({ importId: "i6", ids: ["l3", "l4"] }, limited)).toMatchObject({ created: 0, failed: 2 });
});

test("many lines get one answer and one outbox row per thousand; an id that is taken meanwhile undoes all", async () => {
  const ids = Array.from({ length: 2_500 }, (_, n) => `many-${n}`);
  const events = await count("outbox");
  for (let from = 0; from < ids.length; from += 1_000) {
    await send({ importId: "i7", ids: ids.slice(from, from + 1_000), from: from + 2, last: false });
  }
  const other = await fixture.db.pool.connect();
  await other.query("begin");
  await other.query(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
     values (1, 900000, 'many-2400', 'n', '', '', 'x', 'x')`,
  );
  const late = send({ importId: "i7", ids: [] });
  const refused = expect(late).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await other.query("commit");
  other.release();
  await refused;
  expect(await count("targets", "controller_id like 'many-%'")).toBe(1);
  expect(await send({ importId: "i7", ids: [] })).toMatchObject({ created: 0, failed: 1, problems: [{ line: 2_402 }] });
  await fixture.db.pool.query("delete from targets where id = 900000");
  expect((await send({ importId: "i8", ids })).created).toBe(2_500);
  expect((await count("outbox")) - events).toBe(3);
});

test("an unfinished import is swept after an hour, in chunks", async () => {
  await send({ importId: "left", ids: ["q1", "q2", "q3"], last: false });
  await send({ importId: "fresh", ids: ["q4"], last: false });
  await fixture.db.pool.query("update target_imports set at = at - interval '2 hours' where import_id = 'left'");
  const sweep = async () => (await runOne(fixture.db.pool, sweepImports, [2]))?.swept;
  expect([await sweep(), await sweep(), await sweep()]).toEqual([2, 1, 0]);
  expect(await count("target_imports")).toBe(1);
});

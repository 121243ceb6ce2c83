import { sortFields } from "@harrier/fiql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { api, type TargetsFixture, targetsFixture } from "./targets.fixture.ts";

let all: TargetsFixture;
const n = 11;

beforeAll(async () => {
  all = await targetsFixture();
  const { fixture } = all;
  const setId = await all.newSet();
  for (let i = 0; i < n; i++) {
    const controllerId = `walk-${String(i * 7 + 10).slice(-2)}`;
    const targetId = await fixture.addTarget(controllerId);
    // every column that may be null is null for some, and the same for some
    await fixture.asController(
      `update targets set name = 'n' || ($2 % 3), description = case when $2 % 3 > 0 then 'd' || ($2 % 2) end,
              target_group = case when $2 % 4 > 0 then 'g' end, address = case when $2 % 5 > 2 then 'http://h' || $2 end,
              created_at = to_timestamp(1700000000 + $2 / 3 + 0.000001 * $2) where id = $1`,
      [targetId, i],
    );
    if (i % 3 === 1)
      await fixture.asController(
        "insert into target_polls (tenant_id, target_id, last_poll_at) values (1, $1, to_timestamp(1700000000 + $2 / 4))",
        [targetId, i],
      );
    const actionId = await fixture.addAction({ targetId, controllerId, setId, active: i % 2 === 0 });
    await fixture.asController("update actions set last_status_code = case when $2 % 3 > 0 then $2 % 2 end where id = $1", [actionId, i]);
  }
});
afterAll(() => all?.close());

const page = async (path: string, query: string, permissions = ["READ_TARGET"]) => {
  const { status, body } = await all.http.call("GET", `${api}/${path}?${query}`, { permissions });
  expect(status, `${path}?${query} ${JSON.stringify(body)}`).toBe(200);
  return body as { content: Record<string, unknown>[]; total?: number; totalRelation?: string; next?: string; size: number };
};

/** Walks a list to its end, a few items at a time. */
async function walk(path: string, sort: string, key: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  let more = "total=none";
  for (let pages = 0; pages <= n; pages++) {
    const { content, next, ...rest } = await page(path, `sort=${sort}&limit=3&${more}`);
    expect(rest).toEqual({ size: content.length });
    seen.push(...content.map((item) => item[key]));
    if (next === undefined) return seen;
    expect(content).toHaveLength(3);
    more = `total=none&after=${next}`;
  }
  throw new Error("the walk has no end");
}

const sorts = (fields: Readonly<Record<string, string>>) => Object.keys(fields).flatMap((name) => [`${name}:ASC`, `${name}:DESC`]);

test.each([...sorts(sortFields.targets.fields), "name:ASC,createdat:DESC", "group:DESC,description:ASC,createdat:ASC"])(
  "targets by %s are walked in the order of the pages by offset, each once",
  async (sort) => {
    const { content, total } = await page("targets", `sort=${sort}`);
    expect(total).toBe(n);
    expect(await walk("targets", sort, "controllerId")).toEqual(content.map(({ controllerId }) => controllerId));
  },
);

test.each(sorts(sortFields.actions.spec.fields))("actions by %s, too", async (sort) => {
  const { content } = await page("actions", `sort=${sort}`);
  expect(content).toHaveLength(n);
  expect(await walk("actions", sort, "id")).toEqual(content.map(({ id }) => id));
});

test("a walk goes on behind its row when that is gone, and sees no row twice when others come", async () => {
  const { fixture } = all;
  await fixture.addTarget("gone-1");
  await fixture.addTarget("gone-3");
  const first = await page("targets", "q=id==gone-*&limit=1&total=none");
  await fixture.asController("delete from targets where controller_id = 'gone-1'");
  await fixture.addTarget("gone-0");
  await fixture.addTarget("gone-2");
  const rest = await page("targets", `q=id==gone-*&after=${first.next}`);
  // the total is that of all matches, not of those behind the cursor
  expect([rest.total, rest.content.map(({ controllerId }) => controllerId)]).toEqual([3, ["gone-2", "gone-3"]]);
  const other = await page("targets", `q=id==gone-*&after=${first.next}&offset=1`);
  expect(other.content.map(({ controllerId }) => controllerId)).toEqual(["gone-3"]);
  await fixture.asController("delete from targets where controller_id like 'gone-%'");
});

test("the total is counted as far as it is wanted, by the counter or by the rows", async () => {
  for (const list of ["targets?q=id==walk-*", "targets?", "actions?"]) {
    const [path = "", q = ""] = list.split("?");
    const counted = async (more: string) => {
      const { total, totalRelation } = await page(path, `${q}&limit=1${more}`);
      return { total, totalRelation };
    };
    expect(await counted(""), list).toEqual({ total: n, totalRelation: undefined });
    expect(await counted("&total=exact")).toEqual({ total: n, totalRelation: undefined });
    expect(await counted("&total=none")).toEqual({ total: undefined, totalRelation: undefined });
    expect(await counted("&total=atMost:10")).toEqual({ total: 10, totalRelation: "gte" });
    expect(await counted("&total=atMost:11")).toEqual({ total: 11, totalRelation: "eq" });
  }
  const scoped = await all.http.call("GET", `${api}/targets?total=exact`, { scopes: { READ_TARGET: [4711] } });
  expect(scoped.body).toEqual({ content: [], total: 0, size: 0 });
});

test("a page without total and after has no next; each page is one round trip", async () => {
  expect(await page("targets", "limit=1")).not.toHaveProperty("next");
  const { next } = await page("targets", "limit=1&total=exact");
  expect(await all.fixture.roundTrips.during(() => page("targets", `limit=1&after=${next}&total=atMost:5`))).toBe(1);
});

test("a cursor that is forged, or of another sort or list, is refused, and its values reach no statement as text", async () => {
  const { next = "" } = await page("targets", "limit=1&total=none");
  const [name, ...keys] = JSON.parse(Buffer.from(next, "base64url").toString()) as string[];
  expect(keys).toEqual(["walk-10"]);
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const codeOf = async (path: string, query: string) => {
    const { status, body } = await all.http.call("GET", `${api}/${path}?${query}`, { permissions: ["READ_TARGET"] });
    return status === 200 ? 200 : [status, body.errorCode.split(".").at(-1), body.info?.violations?.[0]?.path];
  };
  const refused = [400, "constraintViolation", "after"];
  expect(await codeOf("targets", `after=${next}&sort=name:ASC`)).toEqual(refused);
  expect(await codeOf("actions", `after=${next}`)).toEqual(refused);
  for (const text of ["x", "*", forged([name, "a", "b"]), forged([name, "a\u0000"]), "a".repeat(12_001)])
    expect(await codeOf("targets", `after=${encodeURIComponent(text)}`), text.slice(0, 20)).toEqual(refused);
  const { next: byId = "" } = await page("actions", "limit=1&total=none");
  const [order] = JSON.parse(Buffer.from(byId, "base64url").toString()) as string[];
  for (const id of ["99999999999999999999", "x", "1; drop table actions"])
    expect(await codeOf("actions", `after=${forged([order, id])}`), id).toEqual(refused);
  expect(await codeOf("targets", `after=${forged([name, "'; drop table targets; --"])}`)).toBe(200);
  for (const total of ["some", "atMost:", "atMost:0", "atMost:1000001", "atMost:-1"])
    expect(await codeOf("targets", `total=${total}`), total).toEqual([400, "notReadable", "total"]);
});

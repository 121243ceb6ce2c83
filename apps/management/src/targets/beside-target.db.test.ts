import { afterAll, beforeAll, expect, test } from "vitest";
import { api, type TargetsFixture, targetsFixture } from "./targets.fixture.ts";

let all: TargetsFixture;
let setId: number;
let otherId: number;
let targetId: number;
const controllerId = "full-1";

beforeAll(async () => {
  all = await targetsFixture();
  const { fixture } = all;
  [setId, otherId] = [await all.newSet(), await all.newSet()];
  targetId = await fixture.addTarget(controllerId, { assignedSetId: setId, installedSetId: otherId });
  await fixture.addTarget("full-2");
  await fixture.addAction({ targetId, controllerId, setId });
  await fixture.addAction({ targetId, controllerId, setId: otherId, status: 0, active: false });
});
afterAll(() => all?.close());

const listed = async (query: string) => {
  const { status, body } = await all.http.call("GET", `${api}/targets?${query}`, { permissions: ["READ_TARGET"] });
  expect(status).toBe(200);
  return body.content as Record<string, unknown>[];
};

test("a full row names the sets, the open action of most weight and the tags by name, in the one round trip of the plain page", async () => {
  const { fixture } = all;
  const heavy = await fixture.addAction({ targetId, controllerId, setId, rolloutId: 77 });
  await fixture.asController("update actions set weight = 1001, created_at = to_timestamp(1700000000.5) where id = $1", [heavy]);
  await fixture.rows(
    `insert into target_tags (tenant_id, id, name, colour, created_by, last_modified_by)
     select 1, n, 'tag ' || (100 - n), case n when 1 then 'red' end, 't', 't' from generate_series(1, 60) n`,
  );
  const link = "insert into target_tag_links (tenant_id, target_id, tag_id) select 1, $1, n from unnest($2::int[]) n";
  await fixture.asController(link, [targetId, [1, 2]]);
  const names = await fixture.rows("select id, name, version from distribution_sets where id in ($1, $2)", [setId, otherId]);
  const setOf = (id: number) => names.find((row) => row["id"] === id);
  let rows: Record<string, unknown>[] = [];
  expect(
    await fixture.roundTrips.during(async () => {
      rows = await listed("q=id==full-*&representation=full");
    }),
  ).toBe(1);
  expect(rows[0]).toMatchObject({ controllerId, assignedSet: setOf(setId), installedSet: setOf(otherId) });
  expect(rows[0]?.["openAction"]).toEqual({ id: heavy, detailStatus: "running", since: 1700000000500, rolloutId: 77 });
  expect(rows[0]?.["tags"]).toEqual([
    { id: 2, name: "tag 98" },
    { id: 1, name: "tag 99", colour: "red" },
  ]);
  expect(rows[1]).toMatchObject({ controllerId: "full-2", tags: [] });
  for (const member of ["assignedSet", "installedSet", "openAction"]) expect(rows[1]).not.toHaveProperty(member);

  await fixture.asController(link, [targetId, Array.from({ length: 58 }, (_, n) => n + 3)]);
  const [row] = await listed("q=id==full-1&representation=full");
  expect(row?.["tags"]).toHaveLength(50);
});

test("without it, and with any other word, a row has none of these members", async () => {
  for (const query of ["q=id==full-1", "q=id==full-1&representation=compact", "q=id==full-1&representation=foo"]) {
    const [row] = await listed(query);
    for (const member of ["assignedSet", "installedSet", "openAction", "tags"]) expect(row).not.toHaveProperty(member);
  }
});

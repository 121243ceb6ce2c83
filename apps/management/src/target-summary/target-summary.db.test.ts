import { afterAll, beforeAll, expect, test } from "vitest";
import { api, type TargetsFixture, targetsFixture } from "../targets/targets.fixture.ts";

let all: TargetsFixture;
let setId: number;

beforeAll(async () => {
  all = await targetsFixture();
  const { fixture } = all;
  setId = await all.newSet();
  await fixture.rows(
    "insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 21, 'gw', 'Gateway', 't', 't')",
  );
  await fixture.rows(
    "insert into target_tags (tenant_id, id, name, created_by, last_modified_by) values (1, 1, 'eu', 't', 't'), (1, 2, 'beta', 't', 't')",
  );
  for (let n = 0; n < 6; n++) {
    const targetId = await fixture.addTarget(`sum-${n}`, { ...(n < 2 ? { typeId: 21 } : {}), ...(n < 3 ? { installedSetId: setId } : {}) });
    await fixture.asController("update target_state set update_status = $2 where target_id = $1", [targetId, n < 4 ? 3 : 4]);
    const [attribute, tag] = [
      "insert into target_attributes (tenant_id, target_id, key, value) values (1, $1, 'HW', $2)",
      "insert into target_tag_links (tenant_id, target_id, tag_id) values (1, $1, $2)",
    ];
    if (n < 5) await fixture.asController(attribute, [targetId, `rev ${n % 3}`]);
    if (n < 3) await fixture.asController(tag, [targetId, 1]);
    if (n === 0) await fixture.asController(tag, [targetId, 2]);
    const polled = "insert into target_polls (tenant_id, target_id, last_poll_at) values (1, $1, now() - $2 * interval '1 day')";
    if (n < 2) await fixture.asController(polled, [targetId, n * 30]);
  }
});
afterAll(() => all?.close());

const every = "updatestatus,targettype,tag,installedds,assignedds,overdue,attribute.hw";
const ask = (query: string, scopes?: Record<string, readonly number[]>) =>
  all.http.call("GET", `${api}/targets.summary?${query}`, { permissions: ["READ_TARGET"], ...(scopes === undefined ? {} : { scopes }) });
const facets = async (query: string, scopes?: Record<string, readonly number[]>) => (await ask(query, scopes)).body.facets;

const expected = () => [
  {
    by: "updatestatus",
    values: [
      { value: "in_sync", count: 4 },
      { value: "error", count: 2 },
    ],
    other: 0,
    without: 0,
  },
  { by: "targettype", values: [{ value: "gw", label: "Gateway", count: 2 }], other: 0, without: 4 },
  {
    by: "tag",
    values: [
      { value: "eu", count: 3 },
      { value: "beta", count: 1 },
    ],
    other: 0,
    without: 3,
  },
  { by: "installedds", values: [{ value: String(setId), label: expect.stringMatching(/^s-\d+:1$/), count: 3 }], other: 0, without: 3 },
  { by: "assignedds", values: [], other: 0, without: 6 },
  {
    by: "overdue",
    values: [
      { value: "false", count: 5 },
      { value: "true", count: 1 },
    ],
    other: 0,
    without: 0,
  },
  {
    by: "attribute.hw",
    values: [
      { value: "rev 0", count: 2 },
      { value: "rev 1", count: 2 },
      { value: "rev 2", count: 1 },
    ],
    other: 0,
    without: 1,
  },
];

test("targets that a query means are counted by everything, in one statement and one more for the polling time", async () => {
  expect(await facets(`q=id==sum-*&by=${every}`)).toEqual(expected());
  expect(await all.fixture.roundTrips.during(() => facets("q=id==sum-*&by=updatestatus,tag,attribute.hw"))).toBe(1);
  expect(await all.fixture.roundTrips.during(() => facets(`q=id==sum-*&by=${every}`))).toBe(2);
});

test("a fleet that has not been counted yet is counted now; then the counts of the background answer, with their moment", async () => {
  expect(await facets(`by=${every}`)).toEqual(expected());
  const { fixture } = all;
  await fixture.asController("insert into fleet_walks (tenant_id) values (1) on conflict do nothing");
  await fixture.asController("select count_fleets(array[1], array[now() - interval '1 day'], 1000)");
  // a change that the walk has not seen yet
  await fixture.asController(
    "update target_state set update_status = 0 where target_id = (select id from targets where controller_id = 'sum-5')",
  );
  const counted = await facets(`by=${every}`);
  const withMoment = expected().map((facet) =>
    facet.by === "tag" || facet.by === "attribute.hw" ? facet : { ...facet, countedAt: expect.any(Number) },
  );
  expect(counted).toEqual(withMoment);
  expect(await all.fixture.roundTrips.during(() => facets("by=updatestatus,installedds"))).toBe(1);
  const [now] = await facets("q=id==sum-*&by=updatestatus");
  expect(now.values).toContainEqual({ value: "unknown", count: 1 });
});

test("a user restricted to target types gets the counts of these, whichever way they are counted", async () => {
  const scopes = { READ_TARGET: [21] };
  for (const q of ["", "q=id==*&"]) {
    const [status, tag] = await facets(`${q}by=updatestatus,tag`, scopes);
    expect(status.values).toEqual([{ value: "in_sync", count: 2 }]);
    expect(tag.values).toEqual([
      { value: "eu", count: 2 },
      { value: "beta", count: 1 },
    ]);
    const none = await facets(`${q}by=${every}`, { READ_TARGET: [] });
    for (const facet of none) expect(facet).toMatchObject({ values: [], other: 0, without: 0 });
  }
});

test("the values beyond the first are counted together", async () => {
  const [hw] = await facets("q=id==sum-*&by=attribute.HW&top=1");
  expect(hw).toEqual({ by: "attribute.HW", values: [{ value: "rev 0", count: 2 }], other: 3, without: 1 });
});

test("what cannot be counted by is refused before anything is read", async () => {
  const many = Array.from({ length: 11 }, (_, n) => `attribute.a${n}`).join();
  for (const query of ["top=1", "by=", "by=name", "by=updatestatus,", "by=attribute", "by=attribute.", `by=${many}`, "by=overdue.x"]) {
    const { status, body } = await ask(query);
    expect([status, body.errorCode, body.info?.violations?.[0]?.path], query).toEqual([
      400,
      "hawkbit.server.error.repo.constraintViolation",
      "by",
    ]);
  }
  expect((await ask("by=tag&q=foo==1")).body.errorCode).toBe("hawkbit.server.error.rest.param.rsqlInvalidField");
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of the query language look like this
import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, deviceNamed, readTarget, seedActions, seedSet, seedTargets } from "../device.fixture.ts";
import { withDefaults } from "../settings/defaults.ts";
import { poll } from "./poll.ts";
import { createPollReader, type PollReader } from "./poll-reader.ts";

// The polling time depends on queries (contract device.md §3.4), which are evaluated within the poll's own round trip.

let fixture: DeviceFixture;
let readPoll: PollReader;
const texts = new Map<string, string>();

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
  await seedTargets(fixture, [
    { id: 1, controllerId: "a" },
    { id: 2, controllerId: "b" },
    { id: 3, controllerId: "c", updateStatus: updateStatus.pending, assignedSetId: 100 },
  ]);
  await fixture.database.db("controller").pool.query(
    `insert into target_attributes (tenant_id, target_id, key, value) values (1, 2, 'site', 'Kiel');
     insert into target_polls (tenant_id, target_id, last_poll_at) values (1, 1, now() - interval '1 day'), (1, 2, now());`,
  );
  const { pool } = fixture.db;
  readPoll = createPollReader({
    query: ((config: { name: string; text: string }) => {
      texts.set(config.name, config.text);
      return pool.query(config);
    }) as never,
  });
});
afterAll(() => fixture.close());

const requested = (pollingTime: string, read: PollReader = readPoll) => {
  const { db, ids, secrets, limits } = fixture;
  const settings = { get: () => withDefaults([{ key: "pollingTime", value: pollingTime }]) };
  const deps = {
    db,
    readPoll: read,
    ids,
    secrets,
    limits,
    settings,
    lastPolls: { record: () => undefined },
    log: { info: () => undefined },
    now: Date.now,
  };
  return (controllerId: string, address: string | null = null) =>
    poll(deps, { device: deviceNamed(controllerId), address, mayRegister: true });
};
const sleeps = async (pollingTime: string, ids = ["a", "b", "c"]) => {
  const ask = requested(pollingTime);
  return (await Promise.all(ids.map((id) => ask(id)))).map((view) => view.config.polling.sleep);
};

test.each([
  ["00:02:00, controllerid == a -> 00:01:00", ["00:01:00", "00:02:00", "00:02:00"]],
  // the first override that matches counts
  ["00:02:00, controllerid == a -> 00:01:00, controllerid =in= (a,b) -> 00:03:00", ["00:01:00", "00:03:00", "00:02:00"]],
  ["00:02:00, attribute.site == kiel -> 00:01:00", ["00:02:00", "00:01:00", "00:02:00"]],
  ["00:02:00, updatestatus == pending and assignedds.name == 'set 100' -> 00:01:00", ["00:02:00", "00:02:00", "00:01:00"]],
  ["00:02:00, targettype.name != x -> 00:01:00", ["00:01:00", "00:01:00", "00:01:00"]],
  ["00:02:00, lastcontrollerrequestat =lt= ${OVERDUE_TS} -> 00:01:00", ["00:01:00", "00:02:00", "00:02:00"]],
  ["00:02:00, createdat =le= ${now_ts} -> 00:01:00", ["00:01:00", "00:01:00", "00:01:00"]],
  // an override that does not fit targets is skipped, and the others stay
  ["00:02:00, group == 'Europe' -> 00:05:05, controllerid == b -> 00:01:00", ["00:02:00", "00:01:00", "00:02:00"]],
  ["00:02:00, group == 'Europe' -> 00:05:05", ["00:02:00", "00:02:00", "00:02:00"]],
  ['00:02:00, name == "\'; drop table targets; --" -> 00:01:00', ["00:02:00", "00:02:00", "00:02:00"]],
])("%s", async (pollingTime, expected) => {
  expect(await sleeps(pollingTime)).toEqual(expected);
});

test("one poll is one round trip, and so are several together, in every state", async () => {
  const ask = requested("00:02:00, controllerid == a -> 00:01:00");
  await seedActions(fixture, [
    { id: 11, targetId: 2 },
    { id: 12, targetId: 3, status: actionStatus.CANCELING },
  ]);
  for (const id of ["a", "b", "c"]) expect(await fixture.roundTrips.during(() => ask(id))).toBe(1);
  expect(await fixture.roundTrips.during(() => Promise.all(["a", "b", "c", "a"].map((id) => ask(id))))).toBe(1);
  expect(Object.keys((await ask("b"))._links ?? {})).toEqual(["deploymentBase"]);
});

test("tenants with and without overrides share no statement, and each sees its own targets", async () => {
  const usual = requested("00:02:00");
  const own = requested("00:02:00, controllerid == * -> 00:01:00");
  const roundTrips = await fixture.roundTrips.during(async () => {
    const views = await Promise.all([usual("a"), own("a"), usual("b"), own("b")]);
    expect(views.map((view) => view.config.polling.sleep)).toEqual(["00:02:00", "00:01:00", "00:02:00", "00:01:00"]);
  });
  expect(roundTrips).toBe(2);
  const plan = withDefaults([{ key: "pollingTime", value: "00:02:00, controllerid == a -> 00:01:00" }]).polling;
  const foreign = await Promise.all([1, 2].map((tenantId) => readPoll({ tenantId, controllerId: "a", address: null }, plan)));
  expect(foreign.map((row) => row?.override)).toEqual([0, undefined]);
});

test("statements with overrides are not prepared, and contain no values", async () => {
  texts.clear();
  for (const id of ["a", "b", "zzz"]) await sleeps(`00:02:00, controllerid == ${id} -> 00:01:00`, ["a"]);
  await sleeps("00:02:00, name == a -> 00:01:00, name == b -> 00:01:00", ["a", "b"]);
  expect([...texts.keys()].map(String)).toEqual([""]);
  expect([...texts.values()].join()).not.toContain("zzz");
  await sleeps("00:02:00", ["a"]);
  expect([...texts.keys()].map(String).toSorted()).toEqual(["", "controller.poll"]);
});

test("a poll with overrides still makes its changes", async () => {
  await seedTargets(
    fixture,
    [1, 2, 3].map((n) => ({ id: 20 + n, controllerId: `new${n}`, updateStatus: updateStatus.unknown })),
  );
  const ask = requested("00:02:00, controllerid == new2 -> 00:01:00");
  const views = await Promise.all(["new1", "new2", "new3"].map((id) => ask(id, "http://10.1.1.1")));
  expect(views.map((view) => view.config.polling.sleep)).toEqual(["00:02:00", "00:01:00", "00:02:00"]);
  for (const id of [21, 22, 23]) expect(await readTarget(fixture, id)).toMatchObject({ updateStatus: updateStatus.registered });
});

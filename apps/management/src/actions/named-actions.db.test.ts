import { afterAll, beforeAll, expect, test } from "vitest";
import { api, type TargetsFixture, targetsFixture } from "../targets/targets.fixture.ts";

let all: TargetsFixture;
let setId: number;
const id: Record<string, number> = {};

beforeAll(async () => {
  all = await targetsFixture();
  const { fixture } = all;
  setId = await all.newSet();
  await fixture.rows(
    "insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 21, 'Gateway', 'G', 't', 't')",
  );
  await fixture.asRolloutEngine(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
                           created_by, last_modified_by) values (1, 50, 'wave', 'running', 'name==*', $1, 'set', '1.0', 11, false, 1, 't', 't')`,
    [setId],
  );
  await fixture.asRolloutEngine(
    `insert into rollout_groups (tenant_id, rollout_id, id, position, name, status, target_percentage, confirmation_required, success_condition,
                                 success_expression, success_action, success_action_expression, error_condition, error_expression, error_action,
                                 error_action_expression, created_by, last_modified_by)
     values (1, 50, 7, 0, 'canary', 'running', 100, false, 'THRESHOLD', '50', 'NEXTGROUP', '', 'THRESHOLD', '50', 'PAUSE', '', 't', 't')`,
  );
  for (const [controllerId, typeId] of [
    ["loud", 21],
    ["silent", 21],
    ["plain", undefined],
  ] as const) {
    const targetId = await fixture.addTarget(controllerId, typeId === undefined ? {} : { typeId });
    const polled = controllerId === "loud" ? "now()" : "now() - interval '30 days'";
    if (controllerId !== "plain")
      await fixture.asController(`insert into target_polls (tenant_id, target_id, last_poll_at) values (1, $1, ${polled})`, [targetId]);
    id[controllerId] = await fixture.addAction({ targetId, controllerId, setId, ...(controllerId === "loud" ? { rolloutId: 50 } : {}) });
  }
  await fixture.asController("update actions set group_id = 7 where id = $1", [id["loud"]]);
});
afterAll(() => all?.close());

const actions = async (query: string) => {
  const { status, body } = await all.http.call("GET", `${api}/actions?${query}`, { permissions: ["READ_TARGET"] });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.content as Record<string, unknown>[];
};
const named = async (controllerId: string) => (await actions(`q=target.controllerid==${controllerId}`))[0];

test("a row names target, set and group, in the one round trip of the page", async () => {
  const [set] = await all.fixture.rows("select id, name, version from distribution_sets where id = $1", [setId]);
  expect(await named("loud")).toMatchObject({
    target: { controllerId: "loud", name: "name of loud" },
    distributionSet: set,
    rolloutGroup: { id: 7, name: "canary" },
    lastMessage: "Assignment initiated by user 'admin'",
  });
  expect(await named("plain")).not.toHaveProperty("rolloutGroup");
  expect(await all.fixture.roundTrips.during(() => actions("limit=3"))).toBe(1);
});

test("the last message is that of the newest of ten entries that has one, cut to 512 characters", async () => {
  const { fixture } = all;
  const enter = async (revision: number, messages: string[]) => {
    await fixture.asController("update actions set revision = $2 where id = $1", [id["silent"], revision]);
    await fixture.asController(
      "insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at) values (1, $1, $2, 3, $3, now())",
      [id["silent"], revision, messages],
    );
    return (await named("silent"))?.["lastMessage"];
  };
  expect(await enter(2, ["first", "last"])).toBe("last");
  expect(await enter(3, [])).toBe("last");
  expect(await enter(4, ["ä".repeat(600)])).toBe("ä".repeat(512));
  for (let revision = 5; revision < 13; revision++) await enter(revision, []);
  expect(await enter(13, [])).toBe("ä".repeat(512));
  expect(await enter(14, [])).toBeUndefined();
});

test("actions of devices that have not polled, or of a type, can be asked for", async () => {
  const found = async (q: string) => (await actions(`sort=id:ASC&q=${encodeURIComponent(q)}`)).map((row) => row["id"]);
  const macro = (name: string) => `$\{${name}}`;
  expect(await found(`active==true;target.lastcontrollerrequestat=le=${macro("OVERDUE_TS")}`)).toEqual([id["silent"]]);
  expect(await found(`target.lastcontrollerrequestat=gt=${macro("OVERDUE_TS")}`)).toEqual([id["loud"]]);
  expect(await found("target.lastcontrollerrequestat=is=null")).toEqual([id["plain"]]);
  expect(await found("target.targettype.key==gate*")).toEqual([id["loud"], id["silent"]]);
  expect(await found("target.targettype.key!=gateway")).toEqual([id["plain"]]);
});

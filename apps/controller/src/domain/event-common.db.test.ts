import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture } from "../device.fixture.ts";

let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());

test("what the events of an action share leaves out what is not known, whichever it is", async () => {
  const { rows } = await fixture.db.pool.query(
    `select g.tenant, g.set_id, g.name, g.version, g.rollout, g.group_id, g.by,
            action_event_common(g.tenant, g.set_id, g.name, g.version, g.rollout, g.group_id, g.by)::text as common
       from (select t.tenant, s.set_id, n.name, v.version, r.rollout, q.group_id, i.by
               from (values ('DEFAULT'), (null)) t (tenant)
              cross join (values (7::bigint), (null)) s (set_id)
              cross join (values ('a "set"'), (null)) n (name)
              cross join (values ('1.0'), (null)) v (version)
              cross join (values (8::bigint), (null)) r (rollout)
              cross join (values (9::bigint), (null)) q (group_id)
              cross join (values ('admin'), (null)) i (by)) g`,
  );
  expect(rows).toHaveLength(128);
  const known = (members: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
  for (const { tenant, set_id: id, name, version, rollout: rolloutId, group_id: rolloutGroupId, by: initiatedBy, common } of rows) {
    const distributionSet = known({ id, name, version });
    expect(JSON.parse(common)).toEqual(known({ tenant, distributionSet, rolloutId, rolloutGroupId, initiatedBy }));
  }
});

test("it is put in the place of its call", async () => {
  const { rows } = await fixture.db.pool.query(
    "explain (verbose, costs off) select action_event_common('DEFAULT', t.id, t.name, '1', null, null, 'admin') from targets t",
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toContain("json_build_object");
  expect(plan).not.toContain("action_event_common");
});

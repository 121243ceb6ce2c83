import { Writable } from "node:stream";
import { actionStatus } from "@harrier/contracts";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freezeRollout } from "../freeze/freeze.ts";
import { createRollout } from "../rollouts/create-rollout.ts";
import { createFixture, type Fixture, rolloutBody, setIds, typeIds } from "../testing/database.fixture.ts";
import { byStatusAndCode, csvOfInsights, csvOfReport, maxInReport, type ReportRequest, readInsights, readReport } from "./read-reports.ts";

let fixture: Fixture;
let rolloutId: number;
let groupIds: number[];

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("t", 6);
  await fixture.addTargets("typed", 2, { typeId: typeIds.compatible });
  rolloutId = await createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==*", amountGroups: 2 }), fixture.call);
  await freezeRollout({ db: fixture.create.db, fault: () => {} }, { tenantId: 1, rolloutId });
  const groups = await fixture.sql<{ id: number }>("select id::int from rollout_engine.rollout_groups order by position");
  groupIds = groups.map(({ id }) => id);
});
afterAll(() => fixture?.drop());
beforeEach(() => fixture.sql("truncate controller.actions"));

interface Given {
  status: number;
  code: number | null;
}

/** Gives the members of the rollout their actions, in the order of the targets. */
const act = (given: readonly Given[]) =>
  fixture.sql(
    `insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, last_status_code,
                                     rollout_id, group_id, initiated_by, created_by, last_modified_by)
     select 1, 10 + g.n, t.id, t.controller_id, ${setIds.complete}, g.status, g.status not in (0, 1, 4), 1, g.code, m.rollout_id, m.group_id,
            'x', 'x', 'x'
       from jsonb_to_recordset($1::jsonb) as g (n int, status smallint, code int)
       join (select *, row_number() over (order by target_id) as n from rollout_engine.group_members where rollout_id = $2) m on m.n = g.n
       join controller.targets t on t.tenant_id = 1 and t.id = m.target_id`,
    [JSON.stringify(given.map((one, n) => ({ n: n + 1, ...one }))), rolloutId],
  );

const request = (over: Partial<ReportRequest> = {}): ReportRequest => ({
  principal: fixture.call.principal,
  rolloutId,
  filter: {},
  ...over,
});
const deps = () => ({ db: fixture.create.db });
const counted = async (over: Partial<ReportRequest> = {}) =>
  (await readInsights(deps(), request(over))).groups.map(({ cells }) => byStatusAndCode(cells, ({ targets }) => targets));
const listed = async (over: Partial<ReportRequest> = {}) =>
  (await readReport(deps(), request(over))).groups.map(({ cells }) => byStatusAndCode(cells, ({ controllerIds }) => controllerIds));
async function text(send: (to: NodeJS.WritableStream) => Promise<void>): Promise<string> {
  const parts: string[] = [];
  const write = (part: unknown, _encoding: string, done: () => void): void => {
    parts.push(String(part));
    done();
  };
  await send(new Writable({ write }));
  return parts.join("");
}

const { ERROR, FINISHED, RUNNING } = actionStatus;
const some: Given[] = [
  { status: FINISHED, code: null },
  { status: ERROR, code: 7 },
  { status: ERROR, code: -1 },
  { status: ERROR, code: 7 },
  { status: RUNNING, code: 200 },
  { status: FINISHED, code: null },
  { status: ERROR, code: null },
];

describe("spec 001 4.8 reports and insights of a rollout", () => {
  test("count and list by group, status and code; a group and a rollout without actions are empty", async () => {
    expect(await counted()).toEqual([{}, {}]);
    await act(some);
    expect(await readInsights(deps(), request())).toMatchObject({
      id: rolloutId,
      totalTargets: 8,
      groups: [{ totalTargets: 4 }, { totalTargets: 4 }],
    });
    expect(await counted()).toEqual([
      { finished: { none: 1 }, error: { "7": 2, "-1": 1 } },
      { running: { "200": 1 }, finished: { none: 1 }, error: { none: 1 } },
    ]);
    expect(await listed()).toEqual([
      { finished: { none: ["t-1"] }, error: { "7": ["t-2", "t-4"], "-1": ["t-3"] } },
      { running: { "200": ["t-5"] }, finished: { none: ["t-6"] }, error: { none: ["typed-1"] } },
    ]);
  });

  test("of the attempts of a target only the last one counts, so that no target is in two places", async () => {
    await act(some);
    await fixture.sql("update controller.actions set retried_by = id + 100 where status = 1");
    await fixture.sql(
      `insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, last_status_code, rollout_id,
                                       group_id, attempt, retry_of, initiated_by, created_by, last_modified_by)
       select tenant_id, retried_by, target_id, controller_id, set_id, case id when 12 then 1 else 0 end, false, force_type,
              case id when 12 then 9 end, rollout_id, group_id, 2, id, 'x', 'x', 'x' from controller.actions where retried_by is not null`,
    );
    expect(await counted()).toEqual([
      { finished: { none: 3 }, error: { "9": 1 } },
      { running: { "200": 1 }, finished: { none: 2 } },
    ]);
    expect(await listed()).toEqual([
      { finished: { none: ["t-1", "t-3", "t-4"] }, error: { "9": ["t-2"] } },
      { running: { "200": ["t-5"] }, finished: { none: ["t-6", "typed-1"] } },
    ]);
    expect((await text(await csvOfReport(deps(), request()))).split("\r\n")).toHaveLength(some.length + 2);
    expect(await counted({ filter: { code: [7] } })).toEqual([{}, {}]);
  });

  test("the filters select by status and by code, and a group is itself alone", async () => {
    await act(some);
    expect(await counted({ filter: { status: [ERROR], code: [7, null] } })).toEqual([{ error: { "7": 2 } }, { error: { none: 1 } }]);
    expect(await counted({ filter: { code: [null] }, groupId: groupIds[1] })).toEqual([{ finished: { none: 1 }, error: { none: 1 } }]);
    expect(await listed({ filter: { status: [RUNNING] }, groupId: groupIds[0] })).toEqual([{}]);
  });

  test("a caller who is restricted to target types gets those alone", async () => {
    await act(some);
    const principal = { ...fixture.call.principal, targetTypeScopes: { READ_TARGET: [typeIds.compatible] } };
    expect(await counted({ principal })).toEqual([{}, { error: { none: 1 } }]);
    expect(await listed({ principal })).toEqual([{}, { error: { none: ["typed-1"] } }]);
    expect(await text(await csvOfReport(deps(), request({ principal })))).toMatch(/^groupId.*\r\n\d+,group-2,error,none,typed-1\r\n$/);
  });

  test("as CSV with a line for each target, or for each number", async () => {
    await act(some);
    const [one, two] = groupIds;
    expect((await text(await csvOfInsights(deps(), request({ filter: { status: [ERROR] } })))).split("\r\n")).toEqual([
      "groupId,groupName,status,code,targets",
      `${one},group-1,error,-1,1`,
      `${one},group-1,error,7,2`,
      `${two},group-2,error,none,1`,
      "",
    ]);
    expect((await text(await csvOfReport(deps(), request({ groupId: two })))).split("\r\n")).toEqual([
      "groupId,groupName,status,code,controllerId",
      `${two},group-2,running,200,t-5`,
      `${two},group-2,finished,none,t-6`,
      `${two},group-2,error,none,typed-1`,
      "",
    ]);
  });

  test("unknown rollouts and groups are not found", async () => {
    for (const over of [{ rolloutId: 5 }, { groupId: 5 }, { rolloutId: 5, groupId: groupIds[0] }]) {
      for (const read of [readInsights, readReport, csvOfReport, csvOfInsights]) {
        await expect(read(deps(), request(over))).rejects.toMatchObject({ code: "entityNotFound" });
      }
    }
  });

  test("whatever the actions are, report, CSV and insights say the same as a count by hand", async () => {
    const given = fc.record({ status: fc.integer({ min: 0, max: 11 }), code: fc.option(fc.integer({ min: -2, max: 2 })) });
    await fc.assert(
      fc.asyncProperty(fc.array(given, { maxLength: 8 }), fc.option(fc.integer({ min: 0, max: 11 })), async (all, status) => {
        await fixture.sql("truncate controller.actions");
        await act(all);
        const filter = status === null ? {} : { status: [status] };
        const kept = all.filter((one) => status === null || one.status === status);
        const sum = (groups: Record<string, Record<string, number>>[]) =>
          groups.flatMap((group) => Object.values(group).flatMap((codes) => Object.values(codes))).reduce((a, b) => a + b, 0);
        expect(sum(await counted({ filter }))).toBe(kept.length);
        const { groups } = await readReport(deps(), request({ filter }));
        const pairs = groups.flatMap(({ cells }) =>
          cells.flatMap(({ status: s, code, controllerIds }) => controllerIds.map(() => `${s} ${code}`)),
        );
        expect(pairs.toSorted()).toEqual(kept.map((one) => `${one.status} ${one.code}`).toSorted());
        expect((await text(await csvOfReport(deps(), request({ filter })))).split("\r\n")).toHaveLength(kept.length + 2);
      }),
      { numRuns: 30 },
    );
  });

  test("a report that would list more than fits is refused; its CSV goes on for as long as there are targets", async () => {
    await fixture.sql(
      `insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, rollout_id, group_id,
                                       initiated_by, created_by, last_modified_by)
       select 1, 1000 + n, 100000 + n, 'many-' || n, ${setIds.complete}, 1, false, 1, $1, $2, 'x', 'x', 'x' from generate_series(0, $3::int) n`,
      [rolloutId, groupIds[0], maxInReport],
    );
    await expect(readReport(deps(), request())).rejects.toMatchObject({ code: "constraintViolation" });
    expect(await counted()).toEqual([{ error: { none: maxInReport + 1 } }, {}]);
    expect((await text(await csvOfReport(deps(), request()))).split("\r\n")).toHaveLength(maxInReport + 3);
  });
});

import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { getSet } from "../distribution-sets/distribution-sets.ts";
import { origin } from "../testing/http.fixture.ts";
import { api, type TargetsFixture, targetsFixture } from "./targets.fixture.ts";

let all: TargetsFixture;
let fixture: TargetsFixture["fixture"];
let http: TargetsFixture["http"];
let newSet: TargetsFixture["newSet"];
let create: TargetsFixture["create"];
let methods: TargetsFixture["methods"];
let setId: number;

beforeAll(async () => {
  all = await targetsFixture();
  ({ fixture, http, newSet, create, methods } = all);
  setId = await all.newSet();
});
afterAll(() => all?.close());
beforeEach(() => {
  all.http.requested.length = 0;
});

test("an assignment creates actions of known targets, ignores unknown ones, reports repeated ones, and locks the set", async () => {
  const set = await newSet();
  await create("as-1", "as-2");
  http.requested.length = 0;
  const assign = () =>
    http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body: [{ id: "as-1" }, { id: "as-2" }, { id: "nobody" }] });
  const { status, body } = await assign();
  expect(status).toBe(200);
  expect(body).toMatchObject({ assigned: 2, alreadyAssigned: 0, total: 2 });
  const [action] = body.assignedActions;
  expect(action._links.self.href).toBe(`${origin}${api}/targets/as-1/actions/${action.id}`);
  expect((await assign()).body).toEqual({ assigned: 0, alreadyAssigned: 2, total: 2, assignedActions: [] });
  expect(http.requested[0]).toMatchObject({
    method: "assignSet",
    commandId: expect.stringMatching(/^assign:[\w-]{36}$/),
    request: {
      set: { id: set, typeId: 11, migrationStep: false },
      initiator: "admin",
      items: [{ controllerId: "as-1", forceType: "forced", weight: 1000 }, {}, {}],
    },
  });
  expect(await getSet(fixture, 1, set)).toMatchObject({ locked: true });
  expect(await fixture.rows("select reservations from distribution_sets where id = $1", [set])).toEqual([{ reservations: 0 }]);
});

test("an offline assignment reads only the ids, each once, and makes no call for an unknown target", async () => {
  const set = await newSet();
  http.requested.length = 0;
  const report = (path: string, body: unknown) => http.call("POST", `${api}${path}?offline=true`, { body });
  const items = [{ id: "of-1", weight: 7, maintenanceWindow: { schedule: "nonsense" } }, { id: "of-1", type: "soft" }, { id: "of-2" }];
  expect((await report(`/distributionsets/${set}/assignedTargets`, items)).body).toMatchObject({ assigned: 2, total: 2 });
  expect((await report("/targets/of-3/assignedDS", [{ id: set }])).body).toMatchObject({ assigned: 1 });
  expect(http.requested.map(({ method, request }) => [method, request["controllerIds"]])).toEqual([
    ["assignOffline", ["of-1", "of-2"]],
    ["assignOffline", ["of-3"]],
  ]);
  expect(http.requested[0]).toMatchObject({
    commandId: expect.stringMatching(/^assign-offline:/),
    request: { set: { id: set }, initiator: "admin" },
  });
  expect(await getSet(fixture, 1, set)).toMatchObject({ locked: true });
  expect(await fixture.rows("select reservations from distribution_sets where id = $1", [set])).toEqual([{ reservations: 0 }]);
  expect((await report("/targets/of-3/assignedDS", [{ id: set }, { id: 4711 }])).status).toBe(400);
  expect((await report("/distributionsets/4711/assignedTargets", [{ id: "of-1" }])).status).toBe(404);
  expect((await report(`/distributionsets/${set}/assignedTargets`, [])).body).toMatchObject({ total: 0 });
  const many = Array.from({ length: 5001 }, (_, i) => ({ id: `t${i}` }));
  expect((await report(`/distributionsets/${set}/assignedTargets`, many)).status).toBe(403);
});

test("an assignment costs two round trips, and seven more at the first use of a set", async () => {
  const set = await newSet();
  await create("as-5", "as-6");
  // The controller of this test writes by its own connections, which are not counted.
  const assign = (id: string) => http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body: [{ id }] });
  expect(await fixture.roundTrips.during(() => assign("as-5"))).toBe(9);
  expect(await fixture.roundTrips.during(() => assign("as-6"))).toBe(2);
});

test("a failed assignment ends its reservation only where it is certain that nothing happened", async () => {
  const set = await newSet();
  const body = [{ id: "as-1" }];
  const reservations = async () =>
    (await fixture.rows("select reservations from distribution_sets where id = $1", [set]))[0]?.["reservations"];
  http.failNext(new HarrierError("targetTypeIncompatible"));
  expect((await http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body })).status).toBe(400);
  expect(await reservations()).toBe(0);
  http.failNext(new HarrierError("unavailable"));
  expect((await http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body })).status).toBe(503);
  expect(await reservations()).toBe(1);
});

test.each<[string, unknown, number, string]>([
  ["two different items for one target", [{ id: "t" }, { id: "t", type: "soft" }], 400, "multiAssignmentNotEnabled"],
  ["weight 1001", [{ id: "t", weight: 1001 }], 400, "constraintViolation"],
  ["unknown type", [{ id: "t", type: "hard" }], 400, "notReadable"],
  ["no id", [{ type: "soft" }], 400, "notReadable"],
  ["a maintenance window", [{ id: "t", maintenanceWindow: { schedule: "0 0 0 ? * *" } }], 400, "maintenanceScheduleInvalid"],
  ["5001 items", Array.from({ length: 5001 }, (_, i) => ({ id: `t${i}` })), 403, "tooManyEntries"],
])("an assignment with %s is refused before any call", async (_, body, status, code) => {
  const answer = await http.call("POST", `${api}/distributionsets/${setId}/assignedTargets`, { body });
  expect([answer.status, answer.body.errorCode.split(".").at(-1)]).toEqual([status, code]);
  expect(methods()).toEqual([]);
});

test("errors of the set are reported by both kinds of requests", async () => {
  await create("as-3");
  const status = async (path: string, body: unknown) => (await http.call("POST", `${api}${path}`, { body })).status;
  expect(await status("/distributionsets/4711/assignedTargets", [{ id: "as-3" }])).toBe(404);
  expect(await status("/targets/nobody/assignedDS", [{ id: setId }])).toBe(404);
  expect(await status("/targets/as-3/assignedDS", [{ id: setId }, { id: 4711 }])).toBe(400);
  expect(await status("/targets/as-3/assignedDS", [{ id: 4711 }])).toBe(404);
  expect(await status(`/distributionsets/${setId}/assignedTargets`, [])).toBe(200);
  const extras = { maintenanceWindow: { schedule: "0 0 2 ? * *", duration: "01:00", timezone: "Z" }, confirmationRequired: false };
  const body = { id: setId, type: "timeforced", forcetime: 5, weight: 7, ...extras };
  expect((await http.call("POST", "/rest/v1/targets/as-3/assignedDS", { body })).body).toMatchObject({ assigned: 1, total: 1 });
  expect(http.requested.at(-1)?.request["items"]).toEqual([
    { controllerId: "as-3", forceType: "timeforced", forceTime: 5, weight: 7, ...extras },
  ]);
});

test("identical items count once, and the time of a forced item does not matter", async () => {
  await create("as-4");
  const body = [{ id: "as-4" }, { id: "as-4", forcetime: 99, weight: 1000 }];
  expect((await http.call("POST", `${api}/distributionsets/${setId}/assignedTargets`, { body })).body).toMatchObject({ total: 1 });
});

test("where the tenant allows several, different items of a target are sent, and several sets are one command, all or none", async () => {
  const [a, b] = [await newSet(), await newSet()];
  await create("se-1");
  const post = (path: string, body: unknown) => http.call("POST", `${api}${path}`, { body });
  await fixture.rows(
    "insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, 'multi.assignments.enabled', 'true', 't', 't')",
  );
  http.requested.length = 0;
  const twice = [
    { id: "se-1", weight: 1 },
    { id: "se-1", weight: 2 },
    { id: "se-1", weight: 2, type: "forced" },
  ];
  expect((await post(`/distributionsets/${a}/assignedTargets`, twice)).status).toBe(200);
  expect(http.requested[0]).toMatchObject({ method: "assignSet", request: { items: [{ weight: 1 }, { weight: 2 }] } });

  http.requested.length = 0;
  const sets = [{ id: b, weight: 3 }, { id: a }, { id: b, weight: 4, type: "soft" }];
  expect((await post("/targets/se-1/assignedDS", sets)).body).toMatchObject({ assigned: 3, total: 3, alreadyAssigned: 0 });
  expect(http.requested).toMatchObject([
    {
      method: "assignSets",
      commandId: expect.stringMatching(/^assign:[\w-]{36}$/),
      request: {
        sets: [{ id: b }, { id: a }],
        items: [
          { controllerId: "se-1", setIndex: 0, weight: 3 },
          { controllerId: "se-1", setIndex: 1, weight: 1000 },
          { controllerId: "se-1", setIndex: 0, weight: 4, forceType: "soft" },
        ],
      },
    },
  ]);
  expect(await fixture.rows("select reservations from distribution_sets where id = any($1)", [[a, b]])).toEqual([
    { reservations: 0 },
    { reservations: 0 },
  ]);
  expect([(await getSet(fixture, 1, a)).locked, (await getSet(fixture, 1, b)).locked]).toEqual([true, true]);

  http.requested.length = 0;
  expect((await post("/targets/nobody/assignedDS", [{ id: a }, { id: b }])).status).toBe(404);
  expect((await post("/targets/se-1/assignedDS", [{ id: a }, { id: 4711 }])).status).toBe(404);
  const many = Array.from({ length: 101 }, (_, weight) => ({ id: a, weight }));
  expect((await post("/targets/se-1/assignedDS", many)).status).toBe(403);
  expect((await post("/targets/se-1/assignedDS?offline=true", [{ id: a }, { id: b }])).status).toBe(400);
  expect(methods()).toEqual([]);
  expect(await fixture.rows("select reservations from distribution_sets where id = any($1)", [[a, b]])).toEqual([
    { reservations: 0 },
    { reservations: 0 },
  ]);
  await fixture.rows("delete from settings where key = 'multi.assignments.enabled'");
});

test("several items of one target cost one more round trip, for the setting", async () => {
  await create("tr-1", "tr-2");
  await fixture.rows(
    "insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, 'multi.assignments.enabled', 'true', 't', 't')",
  );
  const [a, b] = [await newSet(), await newSet()];
  const roundTrips = (path: string, body: unknown) => fixture.roundTrips.during(() => http.call("POST", `${api}${path}`, { body }));
  await roundTrips("/targets/tr-1/assignedDS", [{ id: a }, { id: b }]); // This locks the sets.
  expect(await roundTrips("/targets/tr-1/assignedDS", [{ id: a }])).toBe(3);
  expect(await roundTrips("/targets/tr-1/assignedDS", [{ id: a }, { id: b }])).toBe(5);
  const twice = [
    { id: a, weight: 1 },
    { id: a, weight: 2 },
  ];
  expect(await roundTrips("/targets/tr-1/assignedDS", twice)).toBe(5);
  const targets = `/distributionsets/${a}/assignedTargets`;
  expect(await roundTrips(targets, [{ id: "tr-1" }, { id: "tr-2" }])).toBe(3);
  expect(await roundTrips(targets, [...twice.map(({ weight }) => ({ id: "tr-1", weight })), { id: "tr-2" }])).toBe(4);
  await fixture.rows("delete from settings where key = 'multi.assignments.enabled'");
});

test("every request is a command of its own, even with the same request id and body", async () => {
  const set = await newSet();
  const assign = (id: string) => http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body: [{ id }], rid: "rid-same" });
  await assign("x-1");
  await assign("x-1");
  const [one, two] = http.requested.map((call) => call.commandId);
  expect(one).not.toBe(two);
});

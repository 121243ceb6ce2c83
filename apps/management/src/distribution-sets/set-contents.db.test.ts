import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
let n = 0;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const base = "/api/mgmt/v1";
const ask = (method: string, path: string, body?: unknown) => http.call(method, base + path, body === undefined ? {} : { body });
const status = async (method: string, path: string, body?: unknown) => {
  const answer = await ask(method, path, body);
  return answer.status < 300 ? [answer.status] : [answer.status, answer.body?.errorCode?.replace("hawkbit.server.error.", "")];
};
const module = async (type: string) =>
  (await ask("POST", "/softwaremodules", [{ name: `m${n++}`, version: "1", type }])).body[0].id as number;
const set = async (modules: number[], more: object = {}) => {
  const body = [{ name: `s${n++}`, version: "1", type: "os_app", modules: modules.map((id) => ({ id })), ...more }];
  return (await ask("POST", "/distributionsets", body)).body[0].id as number;
};
const get = async (id: number) => (await ask("GET", `/distributionsets/${id}`)).body;
const without = (id: number, moduleId: number) => status("DELETE", `/distributionsets/${id}/assignedSM/${moduleId}`);

test("a module is removed, and the set lacks it if its type is mandatory", async () => {
  const [os, app] = [await module("os"), await module("application")];
  const id = await set([os, app]);
  const revisionOf = async () => (await fixture.rows("select revision from distribution_sets where id = $1", [id]))[0]?.["revision"];
  const before = await revisionOf();
  expect(await without(id, app)).toEqual([200]);
  expect(await get(id)).toMatchObject({ complete: true, modules: [{ id: os }] });
  expect(await revisionOf()).toBe(Number(before) + 1);
  expect(await without(id, app)).toEqual([200]);
  expect(await revisionOf()).toBe(Number(before) + 1);
  expect(await without(id, os)).toEqual([200]);
  expect(await get(id)).toMatchObject({ complete: false, modules: [] });
  expect(await without(id, 4711)).toEqual([404, "repo.entityNotFound"]);
  expect(await without(4711, os)).toEqual([404, "repo.entityNotFound"]);
});

test("a deleted module can still be removed", async () => {
  const [os, app] = [await module("os"), await module("application")];
  const id = await set([os, app]);
  await ask("DELETE", `/softwaremodules/${app}`);
  expect((await get(id)).modules).toMatchObject([{ id: os }, { id: app, deleted: true }]);
  expect(await without(id, app)).toEqual([200]);
  expect((await get(id)).modules).toMatchObject([{ id: os }]);
});

test("modules of assigned, locked, invalid or deleted sets cannot be removed", async () => {
  const os = await module("os");
  const [assigned, locked, invalid, deleted] = [
    await set([os], { locked: true }),
    await set([os], { locked: true }),
    await set([os]),
    await set([os]),
  ];
  const targetId = await fixture.addTarget("holder");
  for (const setId of [assigned, deleted]) await fixture.addAction({ targetId, controllerId: "holder", setId });
  await ask("DELETE", `/distributionsets/${deleted}`);
  await fixture.rows("update distribution_sets set valid = false where id = $1", [invalid]);
  expect(await without(assigned, os)).toEqual([403, "entityReadOnly"]);
  expect(await without(locked, os)).toEqual([423, "locked"]);
  expect(await without(invalid, os)).toEqual([400, "distributionset.invalid"]);
  expect(await without(deleted, os)).toEqual([404, "deleted"]);
});

test("statistics count actions and rollouts by status, but no deleted rollouts", async () => {
  const [id, idle] = [await set([await module("os")]), await set([])];
  const targetId = await fixture.addTarget("counted");
  for (const code of [0, 0, 3]) await fixture.addAction({ targetId, controllerId: "counted", setId: id, status: code, active: code === 3 });
  await fixture.asRolloutEngine(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
                           deleted, created_by, last_modified_by)
     select 1, 900 + g, 'r' || g, case g when 3 then 'running' else 'ready' end, 'name==*', $1, 's', '1', 11, false, 1, g = 2, 'a', 'a'
       from generate_series(1, 3) g`,
    [id],
  );
  const path = `/distributionsets/${id}/statistics`;
  const [actions, rollouts] = [
    { FINISHED: 2, RUNNING: 1, total: 3 },
    { READY: 1, RUNNING: 1, total: 2 },
  ];
  expect((await ask("GET", path)).body).toEqual({ actions, rollouts, totalAutoAssignments: 0 });
  expect((await ask("GET", `${path}/actions`)).body).toEqual({ actions });
  expect((await ask("GET", `${path}/rollouts`)).body).toEqual({ rollouts });
  expect((await ask("GET", `${path}/autoassignments`)).body).toEqual({});
  const none = `/distributionsets/${idle}/statistics`;
  expect((await ask("GET", none)).body).toEqual({ actions: { total: 0 }, rollouts: { total: 0 }, totalAutoAssignments: 0 });
  for (const part of ["", "/actions", "/rollouts", "/autoassignments"]) {
    if (part !== "") expect((await ask("GET", none + part)).body).toEqual({});
    expect(await status("GET", `/distributionsets/4711/statistics${part}`)).toEqual([404, "repo.entityNotFound"]);
  }
});

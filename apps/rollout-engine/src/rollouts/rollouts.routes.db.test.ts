import { rollouts } from "@harrier/contracts";
import type { RoundTripCounter } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freezeRollout } from "../freeze/freeze.ts";
import { type Fixture, setIds } from "../testing/database.fixture.ts";
import { baseUrl, createHttpFixture, everything, type HttpFixture, type Json } from "../testing/http.fixture.ts";

let http: HttpFixture;
let fixture: Fixture;
let counter: RoundTripCounter;
let call: HttpFixture["call"];

beforeAll(async () => {
  http = await createHttpFixture();
  ({ fixture, counter, call } = http);
  await fixture.addTargets("t", 10);
});
afterAll(() => http?.close());

let names = 0;
const rollout = (over: Json = {}) => {
  names += 1;
  return { name: `r${names}`, distributionSetId: setIds.complete, targetFilterQuery: "name==t-*", amountGroups: 2, ...over };
};

async function ready(): Promise<number> {
  const { body } = await call("POST", "/rollouts", { body: rollout() });
  const rolloutId = Number(body["id"]);
  await freezeRollout({ ...fixture.create, fault: () => {} }, { tenantId: 1, rolloutId });
  return rolloutId;
}

describe("what the database refuses is an error of the caller", () => {
  test("a NUL in a name", async () => {
    const refused = { status: 400, body: { errorCode: "hawkbit.server.error.repo.constraintViolation" } };
    const filter = { body: { name: "a\u0000b", query: "name==a" }, permissions: ["CREATE_TARGET"] };
    expect(await call("POST", "/targetfilters", filter)).toMatchObject(refused);
    expect(await call("POST", "/rollouts", { body: rollout({ name: "a\u0000b" }) })).toMatchObject(refused);
  });

  test("a deadlock", async () => {
    const id = await ready();
    await fixture.sql(`create function rollout_engine.deadlocked() returns trigger language plpgsql as
      $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`);
    await fixture.sql(`create trigger deadlocked before update on rollout_engine.rollouts
      for each row when (new.name = 'deadlocked') execute function rollout_engine.deadlocked()`);
    expect(await call("PUT", `/rollouts/${id}`, { body: { name: "deadlocked" } })).toMatchObject({
      status: 409,
      body: { errorCode: "hawkbit.server.error.repo.concurrentModification" },
    });
  });
});

describe("representations (contract rollouts.md §2.3)", () => {
  test("a created rollout is answered in full, with every link", async () => {
    const { status, body } = await call("POST", "/rollouts", { body: rollout({ description: " d " }), base: "/api/mgmt/v1" });
    expect(status).toBe(201);
    expect(rollouts.create.response?.parse(body)).toEqual(body);
    const self = `${baseUrl}/api/mgmt/v1/rollouts/${body["id"]}`;
    expect(body).toMatchObject({
      description: "d",
      status: "creating",
      type: "forced",
      forcetime: 0,
      weight: 1000,
      totalTargets: 10,
      totalGroups: 2,
      totalTargetsPerStatus: { running: 0, notstarted: 10, scheduled: 0, cancelled: 0, finished: 0, error: 0 },
      deleted: false,
      dynamic: false,
      _links: {
        self: { href: self },
        start: { href: `${self}/start` },
        approve: { href: `${self}/approve` },
        groups: { href: `${self}/deploygroups?offset=0&limit=50` },
        distributionset: { href: `${baseUrl}/api/mgmt/v1/distributionsets/${setIds.complete}`, name: "set:1" },
      },
    });
    expect(Object.keys(body["_links"] as object).sort()).toEqual(
      ["approve", "deny", "distributionset", "groups", "pause", "resume", "self", "start", "triggerNextGroup"].sort(),
    );
    expect(body).not.toHaveProperty("startAt");
    expect(body).not.toHaveProperty("confirmationRequired");
  });

  test("lists are compact unless asked, and filter, sort and page", async () => {
    await ready();
    await ready();
    const compact = (await call("GET", "/rollouts?limit=1&sort=id:DESC&representation=weird")).body;
    expect(rollouts.list.response?.parse(compact)).toEqual(compact);
    const [only] = compact["content"] as Json[];
    expect(compact["size"]).toBe(1);
    expect(Number(compact["total"])).toBeGreaterThan(1);
    expect(only).not.toHaveProperty("totalTargetsPerStatus");
    expect(Object.keys(only?.["_links"] as object)).toEqual(["self"]);
    const full = (await call("GET", "/rollouts?representation=FULL&q=status==READY;distributionset.name==SET")).body;
    const items = full["content"] as Json[];
    expect(items.length).toBeGreaterThanOrEqual(2);
    expect(items[0]).toHaveProperty("totalTargetsPerStatus");
    const ids = items.map((item) => Number(item["id"]));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect((await call("GET", "/rollouts?q=bogus==1")).body["errorCode"]).toBe("hawkbit.server.error.rest.param.rsqlInvalidField");
    expect((await call("GET", "/rollouts?sort=name")).status).toBe(400);
    expect((await call("GET", "/rollouts?offset=1000")).body).toMatchObject({ content: [], size: 0 });
  });

  test("groups and their targets", async () => {
    const id = await ready();
    const list = (await call("GET", `/rollouts/${id}/deploygroups?representation=full`)).body;
    expect(rollouts.listGroups.response?.parse(list)).toEqual(list);
    const groups = list["content"] as Json[];
    expect(groups).toMatchObject([
      {
        name: "group-1",
        status: "ready",
        targetPercentage: 50,
        targetFilterQuery: "",
        totalTargets: 5,
        dynamic: false,
        successCondition: { condition: "THRESHOLD", expression: "50" },
        successAction: { action: "NEXTGROUP", expression: "" },
        errorCondition: { condition: "THRESHOLD", expression: "50" },
        errorAction: { action: "PAUSE", expression: "" },
        totalTargetsPerStatus: { notstarted: 5 },
      },
      { name: "group-2", totalTargets: 5 },
    ]);
    expect(groups[0]).not.toHaveProperty("confirmationRequired");
    const path = `/rollouts/${id}/deploygroups/${groups[1]?.["id"]}`;
    expect((await call("GET", path)).body).toEqual(groups[1]);
    const targets = (await call("GET", `${path}/targets?q=controllerid!=t-7&sort=name:DESC`)).body;
    expect(rollouts.groupTargets.response?.parse(targets)).toEqual(targets);
    expect((targets["content"] as Json[]).map((target) => target["controllerId"])).toEqual(["t-9", "t-8", "t-6", "t-10"]);
    const permissions = [...everything, "READ_TARGET_SECURITY_TOKEN"];
    const [first] = (await call("GET", `${path}/targets`, { permissions })).body["content"] as Json[];
    expect(first).toMatchObject({ controllerId: "t-10", securityToken: "token of t-10", updateStatus: "registered" });
  });

  test("what does not exist", async () => {
    const [one, other] = [await ready(), await ready()];
    const groupOfOther = ((await call("GET", `/rollouts/${other}/deploygroups`)).body["content"] as Json[])[0]?.["id"];
    for (const path of ["/rollouts/999999", "/rollouts/999999/deploygroups", `/rollouts/${one}/deploygroups/${groupOfOther}`])
      expect(await call("GET", path)).toMatchObject({ status: 404, body: { errorCode: "hawkbit.server.error.repo.entityNotFound" } });
    expect((await call("GET", "/rollouts/999999/deploygroups/1/targets")).status).toBe(404);
    expect((await call("POST", "/rollouts/999999/start")).status).toBe(404);
  });
});

describe("writes by dialect (contract rollouts.md §0)", () => {
  test.each([
    ["/api/mgmt/v1", 200, 403],
    ["/rest/v1", 204, 429],
  ])("%s", async (base, bodiless, quota) => {
    const id = await ready();
    expect(await call("POST", `/rollouts/${id}/start`, { base })).toMatchObject({ status: bodiless, text: "" });
    expect(await call("POST", `/rollouts/${id}/start`, { base })).toMatchObject({
      status: 400,
      body: { errorCode: "hawkbit.server.error.rollout.illegalState" },
    });
    expect((await call("POST", "/rollouts", { base, body: rollout({ amountGroups: 501 }) })).status).toBe(quota);
    const unstarted = await ready();
    expect(await call("DELETE", `/rollouts/${unstarted}`, { base })).toMatchObject({ status: bodiless, text: "" });
    expect(await call("DELETE", `/rollouts/${unstarted}`, { base })).toMatchObject({ status: bodiless });
    expect(await call("PUT", `/rollouts/${unstarted}`, { base, body: { name: "x" } })).toMatchObject({
      status: 403,
      body: { errorCode: "hawkbit.server.error.entityReadOnly" },
    });
  });

  test("name and description can be changed", async () => {
    const [one, other] = [await ready(), await ready()];
    const renamed = await call("PUT", `/rollouts/${one}`, { body: { name: "renamed", description: null } });
    expect(renamed).toMatchObject({ status: 200, body: { id: one, name: "renamed" } });
    expect((await call("PUT", `/rollouts/${one}`, { body: { description: "kept name" } })).body).toMatchObject({ name: "renamed" });
    expect((await call("PUT", `/rollouts/${other}`, { body: { name: "renamed" } })).status).toBe(409);
  });

  test("permissions are checked by this service too", async () => {
    const id = await ready();
    const permissions = ["READ_ROLLOUT"];
    expect((await call("GET", `/rollouts/${id}`, { permissions })).status).toBe(200);
    expect((await call("POST", `/rollouts/${id}/start`, { permissions })).status).toBe(403);
    expect((await call("DELETE", `/rollouts/${id}`, { permissions })).status).toBe(403);
    expect((await call("GET", `/rollouts/${id}/deploygroups/11/targets`, { permissions })).status).toBe(403);
  });
});

test("operations take the round trips that the README states", async () => {
  const id = await ready();
  const [group] = (await call("GET", `/rollouts/${id}/deploygroups`)).body["content"] as Json[];
  const groupPath = `/rollouts/${id}/deploygroups/${group?.["id"]}`;
  const promised: [string, string, number][] = [
    ["GET", "/rollouts?representation=full", 1],
    ["GET", `/rollouts/${id}`, 1],
    ["GET", `/rollouts/${id}/deploygroups?representation=full`, 1],
    ["GET", groupPath, 1],
    ["GET", `${groupPath}/targets`, 1],
    ["GET", `${groupPath}/targets?q=${encodeURIComponent(`name==t-*,lastcontrollerrequestat=le=\${OVERDUE_TS}`)}`, 2],
    ["POST", `/rollouts/${id}/start`, 1],
  ];
  for (const [method, path, roundTrips] of promised)
    expect([path, await counter.during(() => call(method, path))]).toEqual([path, roundTrips]);
  expect(await counter.during(() => call("PUT", `/rollouts/${id}`, { body: { description: "x" } }))).toBe(2);
  // the first creations have used up the block of rollout ids
  expect(await counter.during(() => call("POST", "/rollouts", { body: rollout() }))).toBe(6);
  expect(await counter.during(() => call("POST", "/rollouts/preview", { body: rollout() }))).toBe(7);
});

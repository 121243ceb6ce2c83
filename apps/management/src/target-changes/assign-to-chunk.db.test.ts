import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { changeDueTargets } from "./target-change-worker.ts";

const api = "/api/mgmt/v1";
let fixture: Fixture;
let http: HttpFixture;
let setId: number;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await fixture.rows("insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 't', 't')");
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.rows("delete from background_operations");
  await fixture.asController("delete from targets");
  setId = await newSet();
});

let names = 0;
/** Creates a set that may be assigned: its type demands nothing that it has not. */
async function newSet(): Promise<number> {
  names += 1;
  const name = `bulk-${names}`;
  const module = await http.call("POST", `${api}/softwaremodules`, { body: [{ name, version: "1", type: "os" }] });
  const body = [{ name, version: "1", type: "os", modules: [{ id: module.body[0].id }] }];
  return (await http.call("POST", `${api}/distributionsets`, { body })).body[0].id;
}

async function fleet(count: number, first: number, typeId: number | null = null): Promise<void> {
  await fixture.asController(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
     select 1, $2 + n, 'a-' || ($2 + n), 'a', '', '', $3, 'test', 'test' from generate_series(1, $1::int) n`,
    [count, first, typeId],
  );
  await fixture.asController("insert into target_state (tenant_id, target_id) select 1, $2 + n from generate_series(1, $1::int) n", [
    count,
    first,
  ]);
}

const change = (body: object) =>
  http.call("POST", `${api}/targets.bulk`, { body: { action: "assignSet", distributionSetId: setId, ...body } });
const shown = async (id: number) => (await http.call("GET", `${api}/operations/${id}`)).body;

type Assigned = Parameters<Parameters<typeof changeDueTargets>[0]["actions"]["assignSet"]>;

/** Carries operations out; the test double of controller does what `answers` does. */
function worker(calls: Assigned[], answers: (controllerIds: string[]) => void = () => {}) {
  return changeDueTargets({
    db: fixture.db,
    log: { warn: () => {} },
    targets: { changeTargetsById: () => Promise.reject(new Error("no target is changed")) },
    actions: {
      assignSet: async (...call) => {
        calls.push(call);
        answers((call[0].items ?? []).map(({ controllerId = "" }) => controllerId));
        return { alreadyAssigned: 0, actions: [] };
      },
    },
  });
}

test("the set is assigned to the confirmed targets, in commands of 500, in the name of who asked", async () => {
  await fleet(700, 100);
  const { status, body } = await change({ q: "name==a", confirm: 700, type: "soft", weight: 7 });
  expect([status, body.subject]).toEqual([202, `assignSet ${setId}: name==a`]);
  const calls: Assigned[] = [];
  expect(await worker(calls)).toBe(true);
  expect(calls.map(([request]) => request.items?.length)).toEqual([500, 200]);
  expect(calls[0]?.[0].set).toMatchObject({ id: setId });
  expect(calls[0]?.[0].items?.[0]).toMatchObject({ controllerId: "a-101", forceType: "soft", weight: 7 });
  expect(calls[0]?.[1].principal).toMatchObject({ kind: "service", tenantId: 1 });
  expect(calls[0]?.[1].commandId).not.toBe(calls[1]?.[1].commandId);
  expect(await shown(body.id)).toMatchObject({ status: "finished", done: 700, total: 700 });
});

test("targets whose type does not take the set, that are full or gone are counted, and the others get it", async () => {
  await fleet(5, 100);
  await fleet(1, 200, 7);
  const { body } = await change({ q: "name==a", confirm: 6 });
  await fixture.asController("delete from targets where id = 105");
  const calls: Assigned[] = [];
  await worker(calls, (controllerIds) => {
    if (controllerIds.includes("a-102")) throw new HarrierError("quotaTooManyEntries", "full");
  });
  expect(calls.map(([request]) => (request.items ?? []).map(({ controllerId }) => controllerId))).toEqual([
    ["a-101", "a-102", "a-103", "a-104"],
    ["a-101", "a-102"],
    ["a-101"],
    ["a-102"],
    ["a-103", "a-104"],
  ]);
  expect(await shown(body.id)).toMatchObject({
    status: "finished",
    done: 6,
    failed: 3,
    failures: [
      { controllerId: "a-201", reason: "targetTypeIncompatible" },
      { controllerId: "a-102", reason: "quotaTooManyEntries" },
    ],
  });
});

test("a set that becomes invalid meanwhile fails for the rest, and an outcome that is unknown is tried again", async () => {
  await fleet(2, 100);
  const { body } = await change({ q: "name==a", confirm: 2 });
  const calls: Assigned[] = [];
  // the last two: keys that do not match yet, and a controller of the release before
  for (const code of ["unavailable", "identityRefused", "insufficientPermission"] as const) {
    await worker(calls, () => {
      throw new HarrierError(code, `not ${code}`);
    });
    expect(await shown(body.id)).toMatchObject({ status: "running", done: 0, lastError: `not ${code}` });
    await fixture.rows("update background_operations set due_at = now()");
  }
  await fixture.rows("update distribution_sets set valid = false where id = $1", [setId]);
  await worker(calls);
  expect(calls).toHaveLength(3);
  const failures = ["a-101", "a-102"].map((controllerId) => ({ controllerId, reason: "setInvalid" }));
  expect(await shown(body.id)).toMatchObject({ status: "finished", failed: 2, failures });
  expect((await change({ q: "name==a", confirm: 2 })).body.errorCode).toBe("hawkbit.server.error.distributionset.invalid");
});

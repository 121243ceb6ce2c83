import { sealBatch } from "@harrier/audit";
import { run } from "@harrier/db";
import type { NoteRefusalsRequest } from "@harrier/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertTenant } from "../tenants/seed-tenant.sql.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { recordDeniedRequests } from "./record-denied-requests.ts";

let fixture: Fixture;
let http: HttpFixture;
const path = "/api/mgmt/v1/audit";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await run(fixture.db.pool, insertTenant, [2, "acme"]);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const refusal = (members: object = {}) => ({
  tenantId: 0,
  tenant: "",
  signedIn: false,
  actor: "ann",
  action: "signIn",
  entity: "user",
  entityIds: ["ann"],
  scheme: "Basic",
  address: "10.0.0.1",
  status: 401,
  errorCode: "unauthenticated",
  requestId: "r-1",
  at: Date.now(),
  times: 7,
  ...members,
});
const record = (batchId: string, ...refusals: object[]) =>
  recordDeniedRequests({ db: fixture.db.pool, defaultTenant: "DEFAULT" }, { refusals } as NoteRefusalsRequest, batchId);
const entries = () => fixture.rows("select tenant_id, actor, times, result from audit_v1 order by actor");

test("a denied request belongs to the claimed tenant or to the operator, and counts once even if it is sent again", async () => {
  const batch = [
    refusal({ tenant: "ACME" }),
    refusal({ actor: "bob\u0000", tenant: "nowhere" }),
    refusal({ actor: "cy", tenantId: 2, signedIn: true }),
  ];
  await record("b-1", ...batch);
  await record("b-1", ...batch);
  await sealBatch({ db: fixture.db, schema: "management" });
  await record("b-1", ...batch);
  expect(await entries()).toEqual([
    { tenant_id: 2, actor: "ann", times: 7, result: "REFUSED" },
    { tenant_id: 1, actor: "bob?", times: 7, result: "REFUSED" },
    { tenant_id: 2, actor: "cy", times: 7, result: "REFUSED" },
  ]);
  await expect(record("b-2", ...Array.from({ length: 1_001 }, () => refusal()))).rejects.toMatchObject({ code: "constraintViolation" });
});

test("a tenant finds only its own entries, of every service, in one round trip", async () => {
  await fixture.asRolloutEngine(
    `insert into audit_pending (tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, details, ended_at, result)
     select n, ('01a20014-c6ca-7bfd-a169-00000000000' || n)::uuid, to_timestamp(1795297691.338), 'USER', 'dan', 'rollouts.start', 'rollout',
            '{11}', '10.0.0.2', 'r-2', '{}', now(), 'UNKNOWN' from generate_series(1, 2) n`,
  );
  let body: { total: number; content: Record<string, unknown>[] } = { total: 0, content: [] };
  const roundTrips = await fixture.roundTrips.during(async () => {
    ({ body } = await http.call("GET", path));
  });
  expect(roundTrips).toBe(1);
  expect(body.total).toBe(2);
  expect(body.content.map(({ actor, service, result }) => [actor, service, result])).toEqual([
    ["bob?", "management", "REFUSED"],
    ["dan", "rollout-engine", "UNKNOWN"],
  ]);
  const mine = body.content[1] ?? {};
  expect(mine).toMatchObject({ details: {}, sealed: false, entityIds: ["11"], time: 1795297691338 });
  expect(mine).not.toHaveProperty("status");
  expect((await http.call("GET", `${path}/${mine["id"]}`)).body).toEqual(mine);
  expect((await http.call("GET", `${path}/01a20014-c6ca-7bfd-a169-000000000002`)).status).toBe(404);
  const verified = (await http.call("GET", `${path}/verify`)).body;
  expect(verified).toMatchObject({ valid: true, complete: true });
  expect(verified.services[0]).toMatchObject({ service: "management", firstBatch: 1, lastBatch: 1, entries: 1 });
});

test("a name that is cut within a surrogate pair does not keep a batch from being written", async () => {
  await record("b-long", refusal({ actor: `${"d".repeat(255)}😀` }));
  const rows = await fixture.rows("select actor from audit_v1 where actor like 'ddd%'");
  expect(rows).toEqual([{ actor: `${"d".repeat(255)}\ufffd` }]);
});

test("a denied request with a claimed tenant id belongs to that tenant where it exists, else to the operator", async () => {
  await record("b-clients", refusal({ actor: "oc_2_11", tenantId: 2 }), refusal({ actor: "oc_2147483647_11", tenantId: 2_147_483_647 }));
  expect(await fixture.rows("select tenant_id, actor from audit_v1 where actor like 'oc%' order by actor")).toEqual([
    { tenant_id: 1, actor: "oc_2147483647_11" },
    { tenant_id: 2, actor: "oc_2_11" },
  ]);
});

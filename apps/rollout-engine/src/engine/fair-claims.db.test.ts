import { run } from "@harrier/db";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createRollout } from "../rollouts/create-rollout.ts";
import { rolloutBody } from "../testing/database.fixture.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { claimDue } from "./leases.sql.ts";

// huge rollouts of one tenant must not delay a small one of another; the tests count chunks of work, not time

let fixture: EngineFixture;
const small = 2;

const arrange = `
  insert into management.tenants (tenant_id, name, default_set_type_id) values (${small}, 'SMALL', 301);
  insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by)
    select ${small}, id, key, name, 'x', 'x' from management.distribution_set_types where id = 301;
  insert into management.distribution_sets (tenant_id, id, name, version, type_id, complete, valid, deleted, created_by, last_modified_by)
    select ${small}, id, name, version, type_id, complete, valid, deleted, 'x', 'x' from management.distribution_sets where tenant_id = 1;
  insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
    select ${small}, 90 + n, 's-' || n, 's-' || n, ''::bytea, ''::bytea, 'x', 'x' from generate_series(1, 6) n;
  insert into controller.target_state (tenant_id, target_id, update_status)
    select ${small}, 90 + n, 1 from generate_series(1, 6) n;`;

beforeAll(async () => {
  fixture = await createEngineFixture();
  await fixture.addTargets("big", 160);
  await fixture.sql(arrange);
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

const ofSmall = () => ({ ...fixture.call, principal: { ...fixture.call.principal, tenantId: small, tenant: "SMALL" } });
const makeSmall = () => createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==s-*", startAt: 1 }), ofSmall());

test("with one slot, a small rollout is served between ten huge ones that were there first", async () => {
  for (let n = 0; n < 10; n += 1) await fixture.createRollout({ targetFilterQuery: "name==big-*", startAt: 1 });
  await makeSmall();
  const chunks = { big: 0, bigBefore: -1 };
  // the engine's clock advances only with the work: a chunk takes a quarter of a second, so two chunks make a round
  let clock = Date.now();
  fixture.controller.beforeCall = (command, tenantId) => {
    if (command === "openFence") return;
    clock += 250;
    if (tenantId === 1) chunks.big += 1;
    else if (command.startsWith("start ")) chunks.bigBefore = chunks.big;
  };
  fixture.engine({ slots: 1 }, { now: () => clock });
  await eventually(() => expect(chunks.bigBefore).toBeGreaterThan(-1), 30_000);
  // the small rollout takes a round each for freeze, status, two chunks of creating and two of starting, each behind one of the other tenant
  expect(chunks.bigBefore).toBeLessThanOrEqual(12);
});

test("a tenant never holds all slots of a replica, and the tenant that waited longest is next", async () => {
  await fixture.sql("delete from rollout_engine.rollouts");
  for (let n = 0; n < 5; n += 1) await fixture.createRollout({ targetFilterQuery: "name==big-*" });
  const take = (owner: string, limit: number, perTenant: number) =>
    run(fixture.create.db.pool, claimDue, [`00000000-0000-0000-0000-00000000000${owner}`, 60, limit, perTenant]);
  const tenants = async (claims: ReturnType<typeof take>) => (await claims).map(({ tenantId }) => tenantId).sort();
  expect(await tenants(take("1", 4, 3))).toEqual([1, 1, 1]);
  await makeSmall();
  expect(await tenants(take("1", 1, 3))).toEqual([small]);
  await makeSmall();
  // for another replica the tenant with fewer leases comes first
  expect(await tenants(take("2", 1, 3))).toEqual([small]);
  expect(await tenants(take("2", 4, 3))).toEqual([1, 1]);
});

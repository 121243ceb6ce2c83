import { dumpTenants, withClient } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startRollout } from "../rollouts/rollout-commands.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { eraseTenant } from "./erase-tenant.ts";

let fixture: EngineFixture;

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

const tenantIs = (status: string) => fixture.sql("update management.tenants set status = $1 where tenant_id = 1", [status]);
/** Waits for several polls of an engine. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 600));
const dump = () => withClient(fixture.database.adminUrl, (client) => dumpTenants(client, [1]));

test("rollouts of a suspended tenant wait where they are, and go on when it is resumed", async () => {
  fixture.engine();
  const id = await fixture.createRollout({ amountGroups: 2 });
  await fixture.isStatus(id, "ready");
  await aWhile();
  await tenantIs("suspended");
  await startRollout(fixture.drive, fixture.call, id);
  const before = await dump();
  await aWhile();
  expect(await fixture.status(id)).toBe("starting");
  expect(await dump()).toEqual(before);
  await tenantIs("active");
  await fixture.isStatus(id, "running");
});

test("a suspension in the middle of a step is noticed at the next step", async () => {
  fixture.engine();
  const id = await fixture.createRollout({ amountGroups: 1 });
  await fixture.isStatus(id, "ready");
  fixture.controller.beforeCall = () => tenantIs("suspended").then(() => undefined);
  await startRollout(fixture.drive, fixture.call, id);
  await aWhile();
  fixture.controller.beforeCall = () => {};
  expect(await fixture.groupStatuses(id)).not.toEqual(["running"]);
  await tenantIs("active");
  await fixture.areStatuses(id, "running");
});

test("a tenant's rollouts are erased with all their rows, but only while the tenant is being deleted", async () => {
  const call = { principal: { tenantId: 1, tenant: "DEFAULT", kind: "service", subject: "management", permissions: [] } } as const;
  const deps = { db: fixture.create.db };
  const before = await dump();
  await expect(eraseTenant(deps, { countOnly: false }, call)).rejects.toMatchObject({ code: "constraintViolation" });
  expect(await dump()).toEqual(before);
  await tenantIs("deleting");
  const { rows } = await eraseTenant(deps, { countOnly: true }, call);
  expect(rows).toBeGreaterThan(20);
  expect(await eraseTenant(deps, { countOnly: false }, call)).toEqual({ rows, done: true });
  expect(Object.keys(await dump()).filter((table) => table.startsWith("rollout_engine."))).toEqual([]);
});

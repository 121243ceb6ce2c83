import { dumpTenants, withClient } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startRollout } from "../rollouts/drive-rollout.ts";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";
import { eraseTenant } from "./erase-tenant.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await createEngineWorld();
});
afterEach(() => world.stopEngines());
afterAll(() => world?.drop());

const tenantIs = (status: string) => world.sql("update management.tenants set status = $1 where tenant_id = 1", [status]);
/** Several looks of an engine. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 600));
const dump = () => withClient(world.database.adminUrl, (client) => dumpTenants(client, [1]));

test("rollouts of a suspended tenant wait where they are, and go on when it is back", async () => {
  world.engine();
  const id = await world.createRollout({ amountGroups: 2 });
  await world.isStatus(id, "ready");
  await aWhile();
  await tenantIs("suspended");
  await startRollout(world.drive, world.call, id);
  const before = await dump();
  await aWhile();
  expect(await world.status(id)).toBe("starting");
  expect(await dump()).toEqual(before);
  await tenantIs("active");
  await world.isStatus(id, "running");
});

test("a suspension in the middle of a step is noticed at the next one", async () => {
  world.engine();
  const id = await world.createRollout({ amountGroups: 1 });
  await world.isStatus(id, "ready");
  world.controller.beforeCall = () => tenantIs("suspended").then(() => undefined);
  await startRollout(world.drive, world.call, id);
  await aWhile();
  world.controller.beforeCall = () => {};
  expect(await world.groupStatuses(id)).not.toEqual(["running"]);
  await tenantIs("active");
  await world.areStatuses(id, "running");
});

test("a tenant loses its rollouts with everything about them, but only when it is being deleted", async () => {
  const call = { principal: { tenantId: 1, tenant: "DEFAULT", kind: "service", subject: "management", permissions: [] } } as const;
  const deps = { db: world.create.db };
  const before = await dump();
  await expect(eraseTenant(deps, { countOnly: false }, call)).rejects.toMatchObject({ code: "constraintViolation" });
  expect(await dump()).toEqual(before);
  await tenantIs("deleting");
  const { rows } = await eraseTenant(deps, { countOnly: true }, call);
  expect(rows).toBeGreaterThan(20);
  expect(await eraseTenant(deps, { countOnly: false }, call)).toEqual({ rows, done: true });
  expect(Object.keys(await dump()).filter((table) => table.startsWith("rollout_engine."))).toEqual([]);
});

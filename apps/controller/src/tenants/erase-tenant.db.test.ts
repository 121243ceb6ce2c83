import { dumpTenants, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";

let fixture: CommandsFixture;
const ofTenant = (tenantId: number) => contextOf({ tenantId, tenant: `T${tenantId}` });

beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.database
    .db("management")
    .pool.query(
      `insert into tenants (tenant_id, name, default_set_type_id, status) values (2, 'T2', 13, 'active'), (3, 'T3', 13, 'active')`,
    );
  for (const tenantId of [1, 2, 3]) {
    // These are more rows than one chunk has.
    const targets = Array.from({ length: tenantId === 2 ? 2_500 : 3 }, (_, n) => ({ controllerId: `dev-${n}`, name: `dev-${n}` }));
    await fixture.targets.createTargets({ targets }, ofTenant(tenantId));
    await fixture.actions.assignSet(
      { set: reservedSet(), initiator: "admin", items: [itemOf("dev-0"), itemOf("dev-1")] },
      ofTenant(tenantId),
    );
  }
});
afterAll(() => fixture.close());

const dump = (tenantId: number) => withClient(fixture.database.adminUrl, (client) => dumpTenants(client, [tenantId]));
const controllers = (seen: object) => Object.keys(seen).filter((table) => table.startsWith("controller."));
const erase = (tenantId: number, countOnly = false) => fixture.targets.eraseTenantTargets({ countOnly }, ofTenant(tenantId));

test("a tenant that is not being deleted keeps everything, whatever is called", async () => {
  const before = await dump(2);
  for (const status of ["active", "suspended"]) {
    await fixture.database.db("management").pool.query("update tenants set status = $1 where tenant_id = 2", [status]);
    for (const countOnly of [false, true]) await expect(erase(2, countOnly)).rejects.toMatchObject({ code: "constraintViolation" });
  }
  await expect(erase(9)).rejects.toMatchObject({ code: "constraintViolation" });
  expect(controllers(before).length).toBeGreaterThan(5);
  const { "management.tenants": _status, ...rows } = await dump(2);
  const { "management.tenants": _before, ...kept } = before;
  expect(rows).toEqual(kept);
});

test("a tenant that is being deleted loses every row in every table, and no other tenant loses one", async () => {
  await fixture.database.db("management").pool.query("update tenants set status = 'deleting' where tenant_id = 2");
  const others = [await dump(1), await dump(3)];
  const { rows: counted } = await erase(2, true);
  expect(counted).toBeGreaterThan(5_000);
  let erased = 0;
  for (let done = false; !done; ) {
    const slice = await erase(2);
    done = slice.done === true;
    erased += Number(slice.rows);
  }
  // Counters are written anew while what they count is deleted.
  expect(erased).toBeGreaterThanOrEqual(Number(counted));
  expect(controllers(await dump(2))).toEqual([]);
  expect([await dump(1), await dump(3)]).toEqual(others);
  expect(await erase(2)).toEqual({ rows: 0, done: true });
});

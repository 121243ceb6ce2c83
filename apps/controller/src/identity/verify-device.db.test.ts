import { digest } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, setSetting } from "../commands.fixture.ts";
import { verifyDevice } from "./verify-device.ts";

let fixture: CommandsFixture;
const gatewayKey = "the gateway's key";

beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.targets.createTargets({ targets: [{ controllerId: "dev", name: "dev", securityToken: "token" }] }, contextOf());
  await fixture.database.db("management").pool.query(
    `insert into settings (tenant_id, key, digest, cipher, created_by, last_modified_by)
       values (1, 'authentication.gatewaytoken.key', $1, '', 'admin', 'admin')`,
    [digest(gatewayKey)],
  );
});
afterAll(() => fixture.close());

const verify = (change: object = {}) =>
  verifyDevice({ db: fixture.db.pool }, { tenant: "DEFAULT", controllerId: "dev", scheme: "TargetToken", credential: "token", ...change });
const byGateway = (change: object = {}) => verify({ scheme: "GatewayToken", credential: gatewayKey, ...change });

test("a target's token: only while the tenant lets targets sign in, and only for that target", async () => {
  expect(await verify()).toMatchObject({ ok: false });
  await setSetting(fixture, "authentication.targettoken.enabled", true);
  expect(
    await fixture.trips.during(async () => {
      expect(await verify({ tenant: "default" })).toEqual({
        ok: true,
        tenantId: 1,
        tenant: "DEFAULT",
        subject: "dev",
        revision: expect.any(Number),
        expiresAt: 0,
      });
    }),
  ).toBe(1);
  const nobody = { ok: false, tenantId: 0, tenant: "", subject: "" };
  for (const wrong of [
    { credential: "other" },
    { credential: "" },
    { controllerId: "DEV" },
    { controllerId: "unknown" },
    { controllerId: "a\u0000b" },
    { tenant: "OTHER" },
    { tenant: "\u0000" },
    { scheme: "Basic" },
  ]) {
    expect(await verify(wrong), JSON.stringify(wrong)).toMatchObject(nobody);
  }
  await setSetting(fixture, "authentication.targettoken.enabled", false);
  expect(await verify()).toMatchObject({ ok: false });
});

test("the gateway's key: for any device of its tenant, known or not, while it is switched on", async () => {
  expect(await byGateway()).toMatchObject({ ok: false });
  await setSetting(fixture, "authentication.gatewaytoken.enabled", true);
  expect(await fixture.trips.during(() => byGateway())).toBe(1);
  expect(await byGateway({ controllerId: "new one" })).toMatchObject({ ok: true, tenantId: 1, tenant: "DEFAULT", subject: "gateway" });
  expect(await byGateway({ credential: "token" })).toMatchObject({ ok: false });
  expect(await byGateway({ credential: "" })).toMatchObject({ ok: false });
});

test("a suspended tenant lets nobody in", async () => {
  const { pool } = fixture.database.db("management");
  await pool.query("update tenants set status = 'suspended'");
  expect(await byGateway()).toMatchObject({ ok: false });
  await pool.query("update tenants set status = 'active'");
  expect(await byGateway()).toMatchObject({ ok: true });
});

test("an answer's revision lies at or below every transaction that it cannot have seen", async () => {
  const { pool } = fixture.database.db("controller");
  const other = await pool.connect();
  await other.query("begin");
  const { rows } = await other.query("select pg_current_xact_id()::text::bigint as txid");
  const { revision } = await byGateway();
  expect(revision).toBeLessThanOrEqual(rows[0].txid);
  await other.query("rollback");
  other.release();
});

import { digest } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, setSetting } from "../commands.fixture.ts";
import { verifyApiKey, verifyGatewayToken } from "./verify-device.sql.ts";
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

test("a target's token is valid for that target only, while the tenant lets targets sign in", async () => {
  expect(await verify()).toMatchObject({ ok: false });
  await setSetting(fixture, "authentication.targettoken.enabled", true);
  expect(
    await fixture.roundTrips.during(async () => {
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

test("the gateway token is valid for any device of its tenant, known or not, while it is switched on", async () => {
  expect(await byGateway()).toMatchObject({ ok: false });
  await setSetting(fixture, "authentication.gatewaytoken.enabled", true);
  expect(await fixture.roundTrips.during(() => byGateway())).toBe(1);
  expect(await byGateway({ controllerId: "new one" })).toMatchObject({ ok: true, tenantId: 1, tenant: "DEFAULT", subject: "gateway" });
  expect(await byGateway({ credential: "token" })).toMatchObject({ ok: false });
  expect(await byGateway({ credential: "" })).toMatchObject({ ok: false });
});

const apiKey = "dsik_11_secret_sum";
const byKey = (change: object = {}) => verify({ scheme: "ApiKey", credential: apiKey, ...change });
const storeKey = (members: { id?: number; tenantId?: number; credential?: string; expires?: string }) =>
  fixture.database.db("management").pool.query(
    `insert into api_keys (tenant_id, id, name, digest, created_at, expires_at, created_by, last_modified_by)
       values ($1, $2, 'k', $3, now() - interval '2 days', now() + $4::interval, 'admin', 'admin')`,
    [members.tenantId ?? 1, members.id ?? 11, digest(members.credential ?? apiKey), members.expires ?? "1 hour"],
  );

test("an API key is valid for any device of its tenant, until it expires", async () => {
  expect(await byKey()).toMatchObject({ ok: false });
  await storeKey({});
  await storeKey({ id: 12, credential: "expired", expires: "-1 second" });
  expect(await fixture.roundTrips.during(() => byKey())).toBe(1);
  const answer = await byKey({ tenant: "default", controllerId: "new one" });
  expect(answer).toMatchObject({ ok: true, tenantId: 1, tenant: "DEFAULT", subject: "dsik_11" });
  expect(answer.expiresAt - Date.now()).toBeGreaterThan(3_500_000);
  expect(answer.expiresAt - Date.now()).toBeLessThan(3_601_000);
  const nobody = { ok: false, tenantId: 0, tenant: "", subject: "", expiresAt: 0 };
  for (const wrong of [
    { credential: "dsik_11_secret_other" },
    { credential: "" },
    { credential: "expired" },
    { tenant: "OTHER" },
    { scheme: "GatewayToken" },
    { scheme: "TargetToken" },
  ]) {
    expect(await byKey(wrong), JSON.stringify(wrong)).toMatchObject(nobody);
  }
  // The gateway token is no API key either.
  expect(await byKey({ credential: gatewayKey })).toMatchObject(nobody);
});

test("an API key is invalid in another tenant, and in its own once that is suspended", async () => {
  const { pool } = fixture.database.db("management");
  await pool.query("insert into tenants (tenant_id, name, default_set_type_id) values (2, 'THEIRS', 13)");
  await storeKey({ tenantId: 2, credential: "their key" });
  expect(await byKey({ credential: "their key" })).toMatchObject({ ok: false });
  expect(await byKey({ tenant: "theirs" })).toMatchObject({ ok: false });
  expect(await byKey({ tenant: "theirs", credential: "their key" })).toMatchObject({ ok: true, tenantId: 2, tenant: "THEIRS" });
  await pool.query("update tenants set status = 'suspended' where tenant_id = 2");
  expect(await byKey({ tenant: "theirs", credential: "their key" })).toMatchObject({ ok: false });
});

const byCertificate = (issuers: string, change: object = {}) => verify({ scheme: "Certificate", credential: issuers, ...change });

test("a certificate of one of the tenant's authorities is valid for any device, while it is switched on", async () => {
  await setSetting(fixture, "authentication.header.authority", " AAAA;bbbb , cccc,;");
  expect(await byCertificate("aaaa")).toMatchObject({ ok: false });
  await setSetting(fixture, "authentication.header.enabled", true);
  expect(await fixture.roundTrips.during(() => byCertificate("aaaa"))).toBe(1);
  for (const known of ["aaaa", "bbbb", "cccc", "zzzz,bbbb"]) {
    expect(await byCertificate(known, { controllerId: "new one" }), known).toMatchObject({ ok: true, tenantId: 1, subject: "new one" });
  }
  for (const unknown of ["zzzz", "aaaa;bbbb", "aaa", "", ",", " ", "a\u0000"]) {
    expect(await byCertificate(unknown), unknown).toMatchObject({ ok: false });
  }
  expect(await byCertificate("aaaa", { tenant: "OTHER" })).toMatchObject({ ok: false });
});

test("a certificate is invalid for a tenant that names no authority", async () => {
  for (const authority of ["", " ", ";", ",;,"]) {
    await setSetting(fixture, "authentication.header.authority", authority);
    for (const issuers of ["", ",", " ", "aaaa"])
      expect(await byCertificate(issuers), `${authority}|${issuers}`).toMatchObject({ ok: false });
  }
  await setSetting(fixture, "authentication.header.enabled", false);
});

test("an anonymous download is allowed while the tenant allows it", async () => {
  const anonymous = (change: object = {}) => verify({ scheme: "Anonymous", credential: "download", ...change });
  expect(await anonymous()).toMatchObject({ ok: false });
  await setSetting(fixture, "anonymous.download.enabled", true);
  expect(await fixture.roundTrips.during(() => anonymous())).toBe(1);
  expect(await anonymous({ tenant: "default", controllerId: "unknown" })).toMatchObject({ ok: true, tenantId: 1, subject: "anonymous" });
  expect(await anonymous({ tenant: "OTHER" })).toMatchObject({ ok: false });
  await setSetting(fixture, "anonymous.download.enabled", false);
  expect(await anonymous()).toMatchObject({ ok: false });
});

test("no device of a suspended tenant can sign in", async () => {
  const { pool } = fixture.database.db("management");
  await pool.query("update tenants set status = 'suspended'");
  expect(await byGateway()).toMatchObject({ ok: false });
  await pool.query("update tenants set status = 'active'");
  expect(await byGateway()).toMatchObject({ ok: true });
});

test("an answer's revision is at or below every transaction that it cannot have seen", async () => {
  const { pool } = fixture.database.db("controller");
  const other = await pool.connect();
  await other.query("begin");
  const { rows } = await other.query("select pg_current_xact_id()::text::bigint as txid");
  const { revision } = await byGateway();
  expect(revision).toBeLessThanOrEqual(rows[0].txid);
  await other.query("rollback");
  other.release();
});

test("keys are found by their tenant, however many tenants there are", async () => {
  const { pool } = fixture.database.db("management");
  await pool.query(
    "insert into tenants (tenant_id, name, default_set_type_id) select n, 'many ' || n, 13 from generate_series(1001, 4000) n",
  );
  await pool.query(
    `insert into settings (tenant_id, key, digest, cipher, created_by, last_modified_by)
       select n, 'authentication.gatewaytoken.key', sha256(n::text::bytea), '', 'a', 'a' from generate_series(1001, 4000) n`,
  );
  await pool.query(
    `insert into api_keys (tenant_id, id, name, digest, expires_at, created_by, last_modified_by)
       select n, 11, 'k', sha256(n::text::bytea), now() + interval '1 hour', 'a', 'a' from generate_series(1001, 4000) n`,
  );
  for (const table of ["tenants", "settings", "api_keys"]) await pool.query(`analyze ${table}`);
  for (const { text } of [verifyGatewayToken, verifyApiKey]) {
    const { rows } = await fixture.db.pool.query(`explain ${text}`, ["many 2000", digest("2000")]);
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("Seq Scan");
  }
  expect(await byKey({ tenant: "MANY 2000", credential: "2000" })).toMatchObject({ ok: true, tenantId: 2000 });
});

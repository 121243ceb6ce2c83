import { type ApiKeyView, routeTable as r } from "@harrier/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiKeyBuilder } from "../support/api-keys.ts";
import { call, dialects, refused } from "../support/call.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const dayMs = 24 * 60 * 60 * 1000;
const violation = [400, "repo.constraintViolation"] as const;

describe.each(dialects)("API keys, %s", (dialect) => {
  inOwnTenant(dialect);
  const keys = apiKeyBuilder(dialect);
  const noCreate = (more: object, expected: readonly [number, string]) =>
    refused(r.apiKeys.create, dialect, { body: keys.body(more) }, expected);
  const put = async (id: number, body: object) => (await call<ApiKeyView>(r.apiKeys.update, dialect, { ...keys.one(id), body })).json;

  beforeEach(keys.clear);
  afterEach(keys.clear);

  it("management 10.4 the key is shown in the answer of its creation only", async () => {
    const expiresAt = Date.now() + dayMs;
    const { apiKey, ...record } = await keys.create({ name: "for the test bench", description: "d", expiresAt });
    expect(record).toEqual({ id: record.id, name: "for the test bench", description: "d", expiresAt });
    expect(apiKey).toMatch(new RegExp(`^dsik_${record.id}_[0-9A-Za-z]+_[0-9A-Za-z]+$`));
    expect(await keys.list()).toEqual([record]);
    expect(await keys.get(record.id)).toEqual(record);
  });

  it("management 10.4 a validity is required, in the future and within 365 days", async () => {
    const now = Date.now();
    for (const expiresAt of [undefined, null, now - 1_000, 0, now + 366 * dayMs]) await noCreate({ expiresAt }, violation);
    for (const expiresAt of ["soon", true, {}]) await noCreate({ expiresAt }, [400, "rest.body.notReadable"]);
    for (const name of [undefined, null, "", " ", "x".repeat(129)]) await noCreate({ name }, violation);
    expect(await keys.list()).toEqual([]);
    expect(await keys.create({ expiresAt: now + 364 * dayMs })).toMatchObject({ expiresAt: now + 364 * dayMs });
    const iso = new Date(now + 30 * dayMs).toISOString();
    expect(await keys.create({ expiresAt: iso })).toMatchObject({ expiresAt: Date.parse(iso) });
  });

  it("management 12.138 a third key is over the quota, and an expired key counts until it is deleted", async () => {
    const quota = [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"] as const;
    const { id, expiresAt } = await keys.create({ expiresAt: Date.now() + 1_500 });
    await keys.create();
    await noCreate({}, quota);
    await eventually(async () => Date.now() > expiresAt + 100);
    await noCreate({}, quota);
    expect(await keys.list()).toHaveLength(2);
    await keys.remove(id);
    await keys.create();
  });

  it("management 10.4 only the description can be changed, and null removes it", async () => {
    const { apiKey: _once, ...record } = await keys.create({ description: "d" });
    expect(await put(record.id, { description: "e", name: "other", expiresAt: 5 })).toEqual({ ...record, description: "e" });
    const { description: _gone, ...bare } = record;
    expect(await put(record.id, { description: null })).toEqual(bare);
    await refused(r.apiKeys.update, dialect, { ...keys.one(record.id), body: { description: "x".repeat(513) } }, violation);
    expect(await keys.get(record.id)).toEqual(bare);
  });

  it("management 10.4 a deleted key is gone", async () => {
    const { id } = await keys.create();
    expect((await keys.remove(id)).status).toBe(dialect === "spec" ? 200 : 204);
    const gone = [404, "repo.entityNotFound"] as const;
    await refused(r.apiKeys.get, dialect, keys.one(id), gone);
    await refused(r.apiKeys.delete, dialect, keys.one(id), gone);
    await refused(r.apiKeys.update, dialect, { ...keys.one(id), body: { description: "e" } }, gone);
    // Its id is not used again.
    expect((await keys.create()).id).not.toBe(id);
  });
});

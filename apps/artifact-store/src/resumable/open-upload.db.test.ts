import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../service.suite.ts";
import { partSize } from "../storage/storage.ts";
import { code, json, path, uploadsOf } from "./resumable.suite.ts";

let service: RunningService;
const { open, put, complete, cancel, clear } = uploadsOf(() => service);

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(clear);

describe("an upload in parts (contract console.md M15)", () => {
  it.each([
    ["no size", { filename: "a" }],
    ["an empty file", { filename: "a", size: 0 }],
    ["a path as name", { filename: "../a", size: 1 }],
    ["a hash that is none", { filename: "a", size: 1, sha256sum: "xyz" }],
  ])("is not opened with %s", async (_what, body) => {
    expect((await service.call("POST", path, json(body))).status).toBe(400);
  });

  it("is not opened beyond the storage that is left, which other unfinished uploads count in", async () => {
    service.neighbours.maxBytes = 10_000;
    expect(code(await service.call("POST", path, json({ filename: "a", size: 10_001 })))).toEqual([
      403,
      "hawkbit.server.error.quota.storageExceeded",
    ]);
    await open(6_000);
    expect((await service.call("POST", path, json({ filename: "b", size: 5_000 }))).status).toBe(403);
    await open(4_000);
  });

  it("is not opened beyond twenty unfinished ones of a user and fifty of the tenant, however many ask at once", async () => {
    const openFor = (user: string, n: number) => service.call("POST", path, { ...json({ filename: `${user}-${n}`, size: 1 }), user });
    const opened = async (user: string, count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, (_, n) => openFor(user, n)));
      expect(answers.filter(({ status }) => status === 403)).toHaveLength(answers.filter(({ status }) => status !== 201).length);
      return answers.filter(({ status }) => status === 201).length;
    };
    expect([await opened("a", 30), await opened("b", 30), await opened("c", 30)]).toEqual([20, 20, 10]);
    expect((await openFor("a", 99)).json()["message"]).toContain("a user has 20 unfinished uploads at most");
    expect((await openFor("d", 99)).json()["message"]).toContain("a tenant has 50 unfinished uploads at most");
  });

  it("is listed until it is an artifact or is removed, with its module and who opened it", async () => {
    const list = async () => JSON.parse(String((await service.call("GET", "/api/mgmt/v1/artifacts/uploads")).body)) as object[];
    const [first, second] = [await open(10), await open(partSize + 1)];
    expect((await put(second, 0, randomBytes(partSize))).status).toBe(200);
    const common = { status: "open", partSize, softwareModuleId: 11, openedBy: "admin", filename: "fw.bin" };
    const times = { expiresAt: expect.any(Number), createdAt: expect.any(Number) };
    expect(await list()).toEqual([
      { ...common, ...times, id: first, size: 10, offset: 0 },
      { ...common, ...times, id: second, size: partSize + 1, offset: partSize },
    ]);
    await service.bench.sql("update artifact_store.resumable_uploads set opened_by = null where id = $1", [second]);
    expect((await put(first, 0, randomBytes(10))).status).toBe(200);
    expect((await complete(first)).status).toBe(201);
    const [left, ...others] = await list();
    expect([left, others]).toEqual([expect.not.objectContaining({ openedBy: expect.anything() }), []]);
    // what is over counts until the janitor has removed it
    await service.bench.sql("update artifact_store.resumable_uploads set expires_at = now() - interval '1 second' where id = $1", [second]);
    expect(await list()).toHaveLength(1);
    expect((await cancel(second)).status).toBe(200);
    expect(await list()).toEqual([]);
  });
});

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, type Call, type RunningService, startService } from "../service.suite.ts";
import { partSize } from "../storage/storage.ts";

const path = "/api/mgmt/v1/softwaremodules/11/artifacts/uploads";
const code = (answer: Answer): [number, unknown] => [answer.status, answer.json()["errorCode"]];
let service: RunningService;

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(async () => {
  await service.bench.sql("delete from artifact_store.resumable_uploads");
  await service.bench.clear();
  service.neighbours.maxBytes = 100_000_000;
});

const json = (value: object): Call => ({ headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(value)) });

async function open(size: number): Promise<string> {
  const answer = await service.call("POST", path, json({ filename: "fw.bin", size }));
  expect(answer.status, String(answer.body)).toBe(201);
  return String(answer.json()["id"]);
}

async function send(id: string, bytes: Buffer): Promise<void> {
  const headers = { "content-type": "application/octet-stream", "content-length": String(bytes.length) };
  expect((await service.call("PUT", `${path}/${id}?offset=0`, { headers, body: bytes })).status).toBe(200);
}

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
    await send(second, randomBytes(partSize));
    const common = { status: "open", partSize, softwareModuleId: 11, openedBy: "admin", filename: "fw.bin" };
    const times = { expiresAt: expect.any(Number), createdAt: expect.any(Number) };
    expect(await list()).toEqual([
      { ...common, ...times, id: first, size: 10, offset: 0 },
      { ...common, ...times, id: second, size: partSize + 1, offset: partSize },
    ]);
    await service.bench.sql("update artifact_store.resumable_uploads set opened_by = null where id = $1", [second]);
    await send(first, randomBytes(10));
    expect((await service.call("POST", `${path}/${first}/complete`)).status).toBe(201);
    const [left, ...others] = await list();
    expect([left, others]).toEqual([expect.not.objectContaining({ openedBy: expect.anything() }), []]);
    // what is over counts until the janitor has removed it
    await service.bench.sql("update artifact_store.resumable_uploads set expires_at = now() - interval '1 second' where id = $1", [second]);
    expect(await list()).toHaveLength(1);
    expect((await service.call("DELETE", `${path}/${second}`)).status).toBe(200);
    expect(await list()).toEqual([]);
  });
});

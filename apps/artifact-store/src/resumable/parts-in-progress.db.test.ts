import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../service.suite.ts";
import { partSize } from "../storage/storage.ts";
import { randomContent } from "../testing.suite.ts";
import { code, octets, path, uploadsOf } from "./resumable.suite.ts";

let service: RunningService;
const { open, put, get, complete, sendFrom, clear } = uploadsOf(() => service);

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(clear);

/** Waits until two parts are not answered yet: behind its audit entry a part waits for its turn. */
async function untilBothBegun(): Promise<void> {
  await eventually(async () => {
    const pending = "select from artifact_store_audit.audit_pending where action = 'artifactUploads.sendPart' and result is null";
    expect(await service.bench.sql(pending)).toHaveLength(2);
  });
}

/** Begins the first part of an upload, and holds back its second half until `rest` is called; `cut` ends its connection. */
async function halfSent(id: string, bytes: Buffer) {
  const { promise, resolve: rest } = Promise.withResolvers<void>();
  const half = partSize / 2;
  const { request, answer } = service.open("PUT", `${path}/${id}?offset=0`, {
    ...octets(bytes.subarray(0, partSize)),
    body: (async function* () {
      yield bytes.subarray(0, half);
      await promise;
      yield bytes.subarray(half, partSize);
    })(),
  });
  await eventually(async () => {
    expect(await service.bench.sql("select lease_id is not null as leased from artifact_store.resumable_uploads")).toEqual([
      { leased: true },
    ]);
  });
  return { rest, cut: () => request.destroy(), answer };
}

describe("a part that comes before the one in front of it is stored", () => {
  it("waits for it, is stored behind it, and its bytes are hashed in their order", async () => {
    const { bytes, sha256, sha1, md5 } = randomContent(2 * partSize + 5);
    const id = await open(bytes.length);
    const first = await halfSent(id, bytes);
    let answered = false;
    const second = put(id, partSize, bytes.subarray(partSize, 2 * partSize)).finally(() => {
      answered = true;
    });
    await untilBothBegun();
    expect(answered).toBe(false);
    first.rest();
    expect((await first.answer).statusCode).toBe(200);
    expect((await second).json()).toMatchObject({ offset: 2 * partSize });
    await sendFrom(id, bytes, 2 * partSize);
    expect((await complete(id)).json()).toMatchObject({ hashes: { sha256, sha1, md5 } });
  });

  it("does not count when that one is cut off, and says where the upload is", async () => {
    const { bytes, sha256 } = randomContent(partSize + 5);
    const id = await open(bytes.length);
    const first = await halfSent(id, bytes);
    const second = put(id, partSize, bytes.subarray(partSize));
    await untilBothBegun();
    first.answer.catch(() => undefined);
    first.cut();
    const answer = await second;
    expect([code(answer), answer.json()["info"]]).toEqual([[409, "hawkbit.server.error.artifact.uploadOffset"], { offset: 0 }]);
    await sendFrom(id, bytes);
    expect((await complete(id)).json()).toMatchObject({ hashes: { sha256 } });
  });

  it("waits alone: one more, one of another offset, and one of another upload are answered at once", async () => {
    const { bytes } = randomContent(2 * partSize);
    const id = await open(bytes.length);
    const first = await halfSent(id, bytes);
    const second = put(id, partSize, bytes.subarray(partSize));
    await untilBothBegun();
    for (const offset of [partSize, 5, 2 * partSize])
      expect(code(await put(id, offset, Buffer.from("x")))).toEqual([409, "hawkbit.server.error.artifact.uploadOffset"]);
    const other = await open(1);
    expect((await put(other, 0, Buffer.from("x"))).status).toBe(200);
    first.rest();
    expect([(await first.answer).statusCode, (await second).status, (await get(id)).json()["offset"]]).toEqual([200, 200, 2 * partSize]);
  });
});

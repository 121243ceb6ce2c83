import { createHash, randomBytes } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { form, type RunningService, startService } from "../service.suite.ts";
import { contentKey } from "../storage/storage.ts";
import { randomContent, tenantId } from "../testing.suite.ts";

const path = "/api/mgmt/v1/softwaremodules/11/artifacts";
const empty = { blobs: 0, blobReferences: 0, uploads: 0 };
let service: RunningService;

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(async () => {
  const { bench, neighbours } = service;
  await bench.clear();
  for (const failures of Object.values(neighbours.failures)) failures.length = 0;
  neighbours.checked.length = 0;
  neighbours.attached.length = 0;
  neighbours.maxBytes = 100_000_000;
});

async function expectNothingLeft(): Promise<void> {
  expect(await service.bench.files()).toEqual([]);
  expect(await service.bench.rows()).toEqual(empty);
  expect(service.neighbours.attached).toEqual([]);
}

describe("upload (contract management.md §4.3)", () => {
  it.each([
    ["/api/mgmt/v1", "http://public:1/api/mgmt/v1"],
    ["/rest/v1", "http://public:1/rest/v1"],
  ])("stores a file under %s and answers the artifact", async (base, links) => {
    const { bytes, sha1, md5, sha256 } = randomContent(300_000);
    const answer = await service.call(
      "POST",
      `${base}/softwaremodules/11/artifacts`,
      form({ name: "file", filename: "fw.bin", body: bytes }),
    );
    expect(answer.status).toBe(201);
    const id = service.neighbours.attached[0]?.id;
    expect(answer.json()).toEqual({
      createdBy: "admin",
      createdAt: 1_700_000_000_999,
      lastModifiedBy: "admin",
      lastModifiedAt: 1_700_000_000_999,
      id,
      hashes: { sha1, md5, sha256 },
      providedFilename: "fw.bin",
      size: 300_000,
      _links: {
        self: { href: `${links}/softwaremodules/11/artifacts/${id}` },
        download: { href: `${links}/softwaremodules/11/artifacts/${id}/download` },
      },
    });
    expect(await service.bench.files()).toEqual([contentKey(tenantId, sha256)]);
    expect(await service.bench.rows()).toEqual({ blobs: 1, blobReferences: 1, uploads: 0 });
  });

  it("accepts a chunked stream of unknown length, and fields behind the file", async () => {
    const { bytes, sha1, md5, sha256 } = randomContent(3_000_000);
    const { headers, body } = form(
      { name: "file", filename: "part.bin", body: bytes },
      { name: "filename", body: " given.bin " },
      { name: "md5sum", body: md5.toUpperCase() },
      { name: "sha1sum", body: sha1 },
      { name: "sha256sum", body: sha256 },
    );
    const chunks = async function* (): AsyncGenerator<Buffer> {
      for (let at = 0; at < body.length; at += 100_003) yield body.subarray(at, at + 100_003);
    };
    const answer = await service.call("POST", path, { headers, body: chunks() });
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ providedFilename: "given.bin", hashes: { sha1, md5, sha256 } });
  });

  it("accepts name and checksums in the query", async () => {
    const { bytes, sha1 } = randomContent();
    const query = `?filename=query%20name.bin&sha1sum=${sha1}&md5sum=`;
    const answer = await service.call("POST", path + query, form({ name: "file", filename: "part.bin", body: bytes }));
    expect(answer.json()).toMatchObject({ providedFilename: "query name.bin" });
    expect(service.neighbours.checked).toEqual([{ moduleId: 11, filename: "query name.bin" }]);
  });

  it("keeps file names with non-ASCII characters unchanged", async () => {
    const answer = await service.call("POST", path, form({ name: "file", filename: "größe 日本.bin", body: "x" }));
    expect(answer.json()).toMatchObject({ providedFilename: "größe 日本.bin" });
  });

  it("ignores other parts of the form", async () => {
    const parts = [
      { name: "other", filename: "o.bin", body: randomBytes(70_000) },
      { name: "__proto__", body: "x" },
      { name: "file", filename: "a.bin", body: "first" },
      { name: "file", filename: "b.bin", body: "second" },
    ];
    const answer = await service.call("POST", path, form(...parts));
    expect(answer.json()).toMatchObject({ providedFilename: "a.bin", size: 5 });
  });

  const wrong = { md5sum: "md5", sha1sum: "sha1", sha256sum: "sha256" };
  it.each(Object.entries(wrong))("refuses a wrong %s", async (field, code) => {
    const answer = await service.call("POST", path, form({ name: field, body: "00" }, { name: "file", filename: "a", body: "x" }));
    expect(answer.status).toBe(400);
    expect(answer.json()["errorCode"]).toBe(`hawkbit.server.error.artifact.uploadFailed.checksum.${code}.match`);
    await expectNothingLeft();
  });

  it("reports a taken name before a wrong checksum", async () => {
    await service.call("POST", path, form({ name: "file", filename: "a", body: "x" }));
    const again = form({ name: "file", filename: "a", body: "y" }, { name: "md5sum", body: "00" });
    expect((await service.call("POST", path, again)).status).toBe(409);
    expect((await service.call("POST", path, form({ name: "file", filename: "a", body: "y" }))).status).toBe(409);
    expect(await service.bench.rows()).toEqual({ blobs: 1, blobReferences: 1, uploads: 0 });
    expect(await service.bench.files()).toHaveLength(1);
  });

  it("refuses an empty file", async () => {
    const answer = await service.call("POST", path, form({ name: "file", filename: "a", body: "" }));
    expect([answer.status, JSON.parse(String(answer.body)).errorCode]).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
    await expectNothingLeft();
  });

  it.each([
    ["no part", form({ name: "other", filename: "a", body: "x" }), 400],
    ["a field instead of a file", form({ name: "file", body: "x" }), 400],
    ["no form", { headers: { "content-type": "application/json" }, body: Buffer.from("{}") }, 415],
    ["no boundary", { headers: { "content-type": "multipart/form-data" }, body: Buffer.from("x") }, 400],
    ["nothing", { headers: { "content-type": "multipart/form-data; boundary=x" } }, 400],
    ["a truncated form", { ...form(), body: form({ name: "file", filename: "a", body: "x".repeat(5000) }).body.subarray(0, 3000) }, 400],
  ])("refuses %s", async (_what, request, status) => {
    const answer = await service.call("POST", path, request);
    expect(answer.status).toBe(status);
    await expectNothingLeft();
  });

  it.each([
    ["<img src=x>", "Invalid characters in string"],
    ["a\u0001b", "Invalid characters in string"],
    ["a\u0085b", "Invalid characters in string"],
    ["../x", "Invalid characters in string"],
    ["..", "Invalid characters in string"],
    [".", "Invalid characters in string"],
    ["a/b", "Invalid characters in string"],
    ["a\\b", "Invalid characters in string"],
    ["x".repeat(257), ""],
  ])("refuses the name %s", async (filename, message) => {
    const answer = await service.call(
      "POST",
      path,
      form({ name: "file", filename: "ok", body: "x" }, { name: "filename", body: filename }),
    );
    expect(answer.status).toBe(400);
    expect(answer.json()["errorCode"]).toBe("hawkbit.server.error.repo.constraintViolation");
    expect(answer.json()["message"]).toContain(message);
    await expectNothingLeft();
  });

  it("is denied without the permission", async () => {
    const answer = await service.call("POST", path, {
      ...form({ name: "file", filename: "a", body: "x" }),
      permissions: ["READ_REPOSITORY"],
    });
    expect(answer.status).toBe(403);
    await expectNothingLeft();
  });

  it.each(["entityNotFound", "quotaTooManyEntries", "locked"] as const)(
    "answers with the error %s of management's first check, and stores nothing",
    async (code) => {
      service.neighbours.failures.checkUpload.push(new HarrierError(code));
      const answer = await service.call("POST", path, form({ name: "file", filename: "a", body: randomBytes(500_000) }));
      expect(answer.status).toBe({ entityNotFound: 404, quotaTooManyEntries: 403, locked: 423 }[code]);
      await expectNothingLeft();
    },
  );

  it.each(["keep-alive", "close"])("stops reading a file that exceeds the limit, and its client knows why (%s)", async (connection) => {
    const maxBytes = 1_000_000;
    service.neighbours.maxBytes = maxBytes;
    const chunk = randomBytes(1024 * 1024);
    let sent = 0;
    const head = form({ name: "file", filename: "a", body: "" });
    const endless = async function* (): AsyncGenerator<Buffer> {
      yield head.body.subarray(0, head.body.indexOf("\r\n\r\n") + 4);
      for (; sent < maxBytes + 200_000_000; sent += chunk.length) yield chunk;
    };
    const { request, answer } = service.open("POST", path, { headers: { ...head.headers, connection }, body: endless() });
    const response = await answer;
    expect(response.statusCode).toBe(403);
    const body = JSON.parse(Buffer.concat(await response.toArray()).toString());
    expect(body.errorCode).toBe("hawkbit.server.error.quota.storageExceeded");
    // the service discards the rest up to a limit, then reads no more and closes the connection
    await new Promise((resolve) => request.once("close", resolve));
    expect(sent).toBeLessThan(maxBytes + 60_000_000);
    await expectNothingLeft();
  });

  it("refuses a file that its request says is too long before the first byte of it is read", async () => {
    const { headers, body } = form({ name: "file", filename: "a", body: "" });
    const room = service.neighbours.maxBytes;
    const sizes = { tooLong: room + 2 * 1024 * 1024, justShort: room + body.length };
    const begin = (length: number) =>
      service.open("POST", path, { headers: { ...headers, "content-length": String(length) }, body: unsent() });
    const unsent = async function* (): AsyncGenerator<Buffer> {
      yield body.subarray(0, 1);
      await new Promise(() => {});
    };
    const { request, answer } = begin(sizes.tooLong);
    const response = await answer;
    expect(response.statusCode).toBe(403);
    expect(await response.toArray().then((pieces) => JSON.parse(Buffer.concat(pieces).toString()))).toMatchObject({
      errorCode: "hawkbit.server.error.quota.storageExceeded",
    });
    request.destroy();
    await expectNothingLeft();
    // The form around a file of exactly the limit is not counted.
    const accepted = begin(sizes.justShort);
    await eventually(async () => expect(await service.bench.rows()).toMatchObject({ uploads: 1 }), 5_000);
    accepted.request.destroy();
    await eventually(async () => expect(await service.bench.rows()).toEqual(empty), 5_000);
  });

  it.each([10, 100_000, 5_000_000])("leaves nothing behind of an upload that the client cuts after %d bytes", async (bytes) => {
    const { headers, body } = form({ name: "file", filename: "a", body: randomBytes(6_000_000) });
    const cut = new AbortController();
    const { request } = service.open("POST", path, {
      headers: { ...headers, "content-length": String(body.length) },
      body: (async function* () {
        yield body.subarray(0, bytes);
        // Before the service has begun there is nothing that could be left behind.
        await eventually(async () => expect(await service.bench.rows()).toMatchObject({ uploads: 1 }), 5_000);
        cut.abort();
      })(),
    });
    cut.signal.addEventListener("abort", () => request.destroy());
    await new Promise((resolve) => request.once("close", resolve));
    await expect.poll(() => service.bench.rows(), { timeout: 5_000 }).toEqual(empty);
    await expectNothingLeft();
  });

  it("releases the blob if management refuses the artifact", async () => {
    service.neighbours.failures.attachArtifact.push(new HarrierError("locked"));
    const answer = await service.call("POST", path, form({ name: "file", filename: "a", body: "x" }));
    expect(answer.status).toBe(423);
    await expectNothingLeft();
  });

  it("repeats the same command while management is unavailable", async () => {
    service.neighbours.failures.attachArtifact.push(...Array.from({ length: 5 }, () => new HarrierError("unavailable")));
    const answer = await service.call("POST", path, form({ name: "file", filename: "a", body: "x" }));
    expect(answer.status).toBe(201);
    expect(service.neighbours.attached).toHaveLength(1);
    expect(await service.bench.rows()).toEqual({ blobs: 1, blobReferences: 1, uploads: 0 });
  });

  it("costs fourteen round trips whatever the size of the file, two of them for the audit entry", async () => {
    for (const size of [1, 3_000_000]) {
      const { bytes } = randomContent(size);
      const upload = () => service.call("POST", path, form({ name: "file", filename: `${size}.bin`, body: bytes }));
      expect(await service.counter.during(upload)).toBe(14);
    }
  });

  it("does not hold a large file in memory", async () => {
    const chunk = randomBytes(1024 * 1024);
    const count = 150;
    const head = form({ name: "file", filename: "big.bin", body: "" }).body.toString();
    const cut = head.indexOf("\r\n\r\n") + 4;
    const hash = createHash("sha256");
    service.neighbours.maxBytes = 1_000_000_000;
    global.gc?.();
    let peak = 0;
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(head.slice(0, cut));
      for (let i = 0; i < count; i += 1) {
        hash.update(chunk);
        yield chunk;
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
      }
      yield Buffer.from(head.slice(cut));
    };
    const before = process.memoryUsage().arrayBuffers;
    const answer = await service.call("POST", path, { headers: form().headers, body: body() });
    expect(answer.json()).toMatchObject({ size: count * chunk.length, hashes: { sha256: hash.digest("hex") } });
    expect(peak - before).toBeLessThan(80 * 1024 * 1024);
  });
});

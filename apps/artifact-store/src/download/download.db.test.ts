import { createHash } from "node:crypto";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, form, type RunningService } from "../service.suite.ts";
import { contentKey } from "../storage/storage.ts";
import { tenantId } from "../testing.suite.ts";
import { content, name, serveFile, shapes } from "./download.suite.ts";

const etag = `"${content.sha1}"`;
const lastModified = new Date(1_700_000_000_000).toUTCString();
let service: RunningService;
let artifactId: number;

const get = (path: string, headers: Record<string, string> = {}, device = "open", method = "GET"): Promise<Answer> =>
  service.call(method, path, { controllerId: device, headers });
const [path] = shapes("open");

beforeAll(async () => {
  ({ service, artifactId } = await serveFile());
  await service.call("POST", "/rest/v1/softwaremodules/14/artifacts", form({ name: "file", filename: name, body: "not for devices" }));
  await service.call("POST", "/rest/v1/softwaremodules/13/artifacts", form({ name: "file", filename: name, body: "of a deleted module" }));
});
afterAll(async () => service?.stop());

describe("download by a device (contract device.md §6)", () => {
  it.each(shapes("open"))("sends the whole file with its headers: %s", async (url) => {
    const answer = await get(url, { accept: "application/octet-stream" });
    expect(answer.status).toBe(200);
    expect(createHash("sha256").update(answer.body).digest("hex")).toBe(content.sha256);
    const { date: _date, connection: _connection, ...headers } = answer.headers;
    expect(headers).toEqual({
      "content-type": "application/octet-stream",
      "content-length": "2000000",
      "content-disposition": `attachment;filename=${name}`,
      etag,
      "last-modified": lastModified,
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
    });
  });

  it("costs one round trip", async () => {
    for (let i = 0; i < 5; i += 1) expect(await service.counter.during(() => get(path))).toBe(1);
  });

  it.each([
    ["open", 200],
    ["waiting", 200],
    ["installed", 200],
    ["canceling", 404],
    ["canceled", 404],
    ["failed", 404],
    ["scheduled", 404],
    ["nobody", 404],
  ])("a device whose action is %s gets %d", async (device, status) => {
    const answer = await get(shapes(device)[0], {}, device);
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(answer.json()).toMatchObject({
      errorCode: "hawkbit.server.error.repo.entityNotFound",
      message: `No assignment found for SoftwareModule with id {11} to Target with id {${device}}.`,
    });
  });

  it("takes the device from the identity, not from the path", async () => {
    expect((await get(shapes("open")[0], {}, "canceled")).status).toBe(404);
  });

  it.each([
    ["unknown module", shapes("open", name, 999)[0], "hawkbit.server.error.repo.entityNotFound"],
    ["module that is not in the set", shapes("open", name, 14)[0], "hawkbit.server.error.repo.entityNotFound"],
    ["unknown file", shapes("open", "other.bin")[0], ""],
    ["file of another module", shapes("open", name, 12)[0], ""],
  ])("%s: 404", async (_what, url, code) => {
    const answer = await get(url);
    expect(answer.status).toBe(404);
    expect(answer.body.length === 0 ? "" : answer.json()["errorCode"]).toBe(code);
  });

  it("refuses a module id that is not a number", async () => {
    expect((await get(path.replace("/11/", "/x/"))).status).toBe(400);
  });

  it.each([
    ["bytes=0-9", 0, 10],
    ["bytes=1999990-", 1_999_990, 2_000_000],
    ["bytes=-10", 1_999_990, 2_000_000],
    ["bytes=0-", 0, 2_000_000],
    ["bytes=-9999999", 0, 2_000_000],
    ["bytes=500000-99999999", 500_000, 2_000_000],
  ])("%s: 206", async (range, from, to) => {
    const answer = await get(path, { range });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toBe(`bytes ${from}-${to - 1}/2000000`);
    expect(answer.headers["content-length"]).toBe(String(to - from));
    expect(answer.body.equals(content.bytes.subarray(from, to))).toBe(true);
  });

  it("sends several ranges as parts, sorted by their place in the file", async () => {
    const answer = await get(path, { range: "bytes=1000000-1000009,0-4" });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-type"]).toBe("multipart/byteranges; boundary=this_string_separates_multipart");
    expect(answer.headers["content-length"]).toBeUndefined();
    const part = (from: number, to: number): Buffer[] => [
      Buffer.from(
        `--this_string_separates_multipart\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${from}-${to}/2000000\r\n\r\n`,
      ),
      content.bytes.subarray(from, to + 1),
    ];
    const crlf = Buffer.from("\r\n");
    const end = Buffer.from("--this_string_separates_multipart--");
    expect(answer.body).toEqual(Buffer.concat([...part(0, 4), crlf, ...part(1_000_000, 1_000_009), crlf, end]));
  });

  it.each([150, 512])("sends %d ranges in one answer, as SWUpdate's delta updates request them", async (count) => {
    const ranges = Array.from({ length: count }, (_, i) => [i * 3_900, i * 3_900 + 1_499] as const);
    const answer = await get(path, { range: `bytes=${ranges.map(([from, to]) => `${from}-${to}`).join(",")}` });
    expect([answer.status, answer.headers["content-type"]]).toEqual([
      206,
      "multipart/byteranges; boundary=this_string_separates_multipart",
    ]);
    let at = 0;
    for (const [from, to] of ranges) {
      const head = `--this_string_separates_multipart\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${from}-${to}/2000000\r\n\r\n`;
      expect(answer.body.toString("latin1", at, at + head.length)).toBe(head);
      at += head.length;
      expect(answer.body.subarray(at, at + 1_500).equals(content.bytes.subarray(from, to + 1))).toBe(true);
      at += 1_502;
    }
    expect(answer.body.toString("latin1", at)).toBe("--this_string_separates_multipart--");
    const more = [...ranges, ...Array.from({ length: 513 - count }, (_, i) => [1_999_000 + i, 1_999_000 + i])];
    expect((await get(path, { range: `bytes=${more.map((range) => range.join("-")).join(",")}` })).status).toBe(416);
  });

  it.each(["bytes=2000000-", "bytes=9-1", "bytes=-0", "items=0-9", "bytes=0-9,5-14"])("%s: 416", async (range) => {
    const answer = await get(path, { range });
    expect([answer.status, answer.headers["content-range"], answer.body.length]).toEqual([416, "bytes */2000000", 0]);
  });

  it("honours If-Range and If-Match", async () => {
    const range = { range: "bytes=0-9" };
    expect((await get(path, { ...range, "if-range": etag })).status).toBe(206);
    expect((await get(path, { ...range, "if-range": lastModified })).status).toBe(206);
    expect((await get(path, { ...range, "if-range": '"other"' })).status).toBe(200);
    expect((await get(path, { ...range, "if-match": content.sha1 })).status).toBe(206);
    expect((await get(path, { ...range, "if-match": etag })).status).toBe(206);
    const failed = await get(path, { "if-match": '"other"' });
    expect([failed.status, failed.body.length]).toEqual([412, 0]);
  });

  it("answers HEAD with the whole length and no body, and ignores the range", async () => {
    const answer = await get(path, { range: "bytes=0-9" }, "open", "HEAD");
    expect([answer.status, answer.headers["content-length"], answer.body.length]).toEqual([200, "2000000", 0]);
    expect(answer.headers.etag).toBe(etag);
  });

  it.each(shapes("open"))("sends the MD5SUM file: %s", async (url) => {
    const answer = await get(`${url}.MD5SUM`, { accept: "text/plain" });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe(`${content.md5}  ${name}`);
    expect(answer.headers["content-type"]).toBe("text/plain");
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
    expect((await get(`${url}.md5sum`)).status).toBe(404);
    expect((await get(`${url}.MD5SUM`, {}, "canceled")).status).toBe(404);
  });

  it("waits for a slow client instead of reading ahead into memory", async () => {
    const { answer } = service.open("GET", path, { controllerId: "open" });
    const response = await answer;
    response.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const body = Buffer.concat(await response.toArray());
    expect(body.equals(content.bytes)).toBe(true);
  });

  it("goes on serving when a client goes away in the middle of a download", async () => {
    const { request, answer } = service.open("GET", path, { controllerId: "open" });
    await answer;
    request.destroy();
    expect((await get(path, { range: "bytes=0-9" })).status).toBe(206);
  });
});

describe("download by a user (contract management.md §4.3)", () => {
  const adminPath = (base: string, module = 11, artifact = artifactId): string =>
    `${base}/softwaremodules/${module}/artifacts/${artifact}/download`;

  it.each([
    ["/api/mgmt/v1", content.sha1],
    ["/rest/v1", etag],
  ])("sends the file under %s", async (base, tag) => {
    const answer = await service.call("GET", adminPath(base));
    expect(answer.status).toBe(200);
    expect(answer.body.equals(content.bytes)).toBe(true);
    expect(answer.headers).toMatchObject({ etag: tag, "content-range": "bytes 0-1999999/2000000", "accept-ranges": "bytes" });
    const part = await service.call("GET", adminPath(base), { headers: { range: "bytes=0-9", "if-range": tag } });
    expect([part.status, part.body.length]).toEqual([206, 10]);
    expect((await service.call("GET", adminPath(base), { headers: { range: "bytes=9-1" } })).status).toBe(416);
    expect((await service.call("GET", adminPath(base), { headers: { "if-match": "x" } })).status).toBe(412);
  });

  it("finds an artifact only under its own module", async () => {
    expect((await service.call("GET", adminPath("/rest/v1", 14))).status).toBe(404);
    expect((await service.call("GET", adminPath("/rest/v1", 999))).status).toBe(404);
    expect((await service.call("GET", adminPath("/rest/v1", 11, 1))).status).toBe(404);
  });

  it("answers 410 for a deleted module and for deleted bytes", async () => {
    const ofDeleted = service.neighbours.attached.find((artifact) => artifact.moduleId === 13)?.id ?? 0;
    const gone = await service.call("GET", adminPath("/rest/v1", 13, ofDeleted));
    expect([gone.status, gone.json()["errorCode"]]).toEqual([410, "hawkbit.server.error.artifact.binaryDeleted"]);
    await service.bench.sql("update artifact_store.blobs set state = 'deleting' where sha256 = $1", [content.sha256]);
    expect((await service.call("GET", adminPath("/rest/v1"))).status).toBe(410);
    expect((await get(path)).status).toBe(410);
    await service.bench.sql("update artifact_store.blobs set state = 'stored' where sha256 = $1", [content.sha256]);
  });

  it("is denied without the permission to download", async () => {
    const answer = await service.call("GET", adminPath("/rest/v1"), { permissions: ["READ_REPOSITORY"] });
    expect(answer.status).toBe(403);
  });

  it.each([
    ["a part of an object", (key: string) => truncate(join(service.bench.root, key), 1_000_000)],
    ["an object", (key: string) => service.bench.storage.delete(key)],
  ])("answers 500 before any byte when the store has lost %s, whatever is asked for", async (_what, lose) => {
    await lose(contentKey(tenantId, content.sha256));
    const ranges = ["bytes=0-9", "bytes=999990-1000009", "bytes=1500000-", "bytes=0-9,1500000-1500009"];
    for (const headers of [{}, ...ranges.map((range) => ({ range }))]) {
      const answer = await service.call("GET", adminPath("/rest/v1"), { headers });
      expect([answer.status, answer.json()["errorCode"]]).toEqual([500, "hawkbit.server.error.artifact.loadFailed"]);
      expect((await get(path, headers)).status).toBe(500);
    }
    expect((await get(path, {}, "open", "HEAD")).status).toBe(500);
  });
});

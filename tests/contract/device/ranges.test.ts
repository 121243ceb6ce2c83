import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { build, sha1, unique } from "../support/build.ts";
import { type Device, device } from "../support/device.ts";
import type { Headers } from "../support/http.ts";

const size = 1_000;
const bytes = Buffer.from(Array.from({ length: size }, (_, n) => (n * 7) % 251));

describe("ranges of a download", () => {
  let d: Device;
  let file: { softwareModuleId: number; fileName: string };
  let createdAt: number;

  beforeAll(async () => {
    const { set, moduleId, artifact } = await build.setWithArtifact(bytes, unique("file"));
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    d = device(controllerId);
    file = { softwareModuleId: moduleId, fileName: artifact.providedFilename };
    createdAt = artifact.createdAt;
  });
  const fetch = (headers: Headers, method = "GET") => d.ask(r.device.artifact, file, { headers, method });

  it.each([
    ["0-9", 0, 9],
    ["-10", 990, 999],
    ["10-", 10, 999],
    ["0-", 0, 999],
    ["0-999", 0, 999],
    ["999-999", 999, 999],
    ["500-100000", 500, 999],
    ["500-99999999999999999999", 500, 999],
    ["-1000", 0, 999],
    ["-5000", 0, 999],
  ])("device 13.82 bytes=%s is 206", async (range, from, to) => {
    const { status, headers, bytes: got } = await fetch({ range: `bytes=${range}` });
    expect(status).toBe(206);
    expect(headers["content-range"]).toBe(`bytes ${from}-${to}/${size}`);
    expect(headers["content-length"]).toBe(String(to - from + 1));
    expect(headers["content-type"]).toBe("application/octet-stream");
    expect(got.equals(bytes.subarray(from, to + 1))).toBe(true);
  });

  it.each(["1000-", "1000-1001", "9-1", "-0", "-", "", "a-b", "0-9, 20-29", "0-9,5-14", "0-9,1000-", "99999999999999999999-"])(
    "device 13.82 bytes=%s is 416",
    async (range) => {
      const { status, headers, text } = await fetch({ range: `bytes=${range}` });
      expect([status, text, headers["content-range"]]).toEqual([416, "", `bytes */${size}`]);
    },
  );

  it("device 13.82 a range in another unit is 416", async () => {
    const { status, headers } = await fetch({ range: "items=0-9" });
    expect([status, headers["content-range"]]).toEqual([416, `bytes */${size}`]);
  });

  it("device 13.82 several ranges come sorted, each with its own head", async () => {
    const { status, headers, bytes: got } = await fetch({ range: "bytes=20-29,0-9" });
    const boundary = "this_string_separates_multipart";
    expect(status).toBe(206);
    expect(headers["content-type"]).toBe(`multipart/byteranges; boundary=${boundary}`);
    const part = (from: number, to: number) => [
      Buffer.from(`--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${from}-${to}/${size}\r\n\r\n`),
      bytes.subarray(from, to + 1),
      Buffer.from("\r\n"),
    ];
    expect(got.equals(Buffer.concat([...part(0, 9), ...part(20, 29), Buffer.from(`--${boundary}--`)]))).toBe(true);
  });

  it("device 13.83 If-Range: an unchanged file answers with the range, a changed one with the whole file", async () => {
    const range = "bytes=0-9";
    const etag = `"${sha1(bytes)}"`;
    const status = async (ifRange: string) => (await fetch({ range, "if-range": ifRange })).status;
    expect(await status(etag)).toBe(206);
    expect(await status('"other"')).toBe(200);
    const { headers } = await fetch({});
    expect(await status(headers["last-modified"] as string)).toBe(206);
    expect(await status(new Date(createdAt + 60_000).toUTCString())).toBe(206);
    expect(await status(new Date(createdAt - 60_000).toUTCString())).toBe(200);
    const whole = await fetch({ range, "if-range": '"other"' });
    expect(whole.bytes.equals(bytes)).toBe(true);
  });

  it("device 13.83 If-Match: one ETag of the list must match, quoted or not, or the answer is 412", async () => {
    const tag = sha1(bytes);
    for (const ifMatch of ["*", tag, `"${tag}"`, `"x", "${tag}"`]) expect((await fetch({ "if-match": ifMatch })).status).toBe(200);
    for (const ifMatch of ['"x"', '"x","y"']) {
      const { status, text } = await fetch({ "if-match": ifMatch });
      expect([status, text]).toEqual([412, ""]);
    }
  });

  it("device 13.87 HEAD answers with the whole length and ignores ranges", async () => {
    for (const headers of [{}, { range: "bytes=0-9" }]) {
      const { status, headers: seen, bytes: got } = await fetch(headers, "HEAD");
      expect([status, seen["content-length"], got.length]).toEqual([200, String(size), 0]);
      expect(seen["etag"]).toBe(`"${sha1(bytes)}"`);
      expect(seen["content-range"]).toBeUndefined();
    }
  });

  it("device 6.3 up to 512 ranges come in one answer, each with its bytes; more are 416", async () => {
    const { set, moduleId, artifact } = await build.setWithArtifact(Buffer.alloc(200_000, "0123456789"), unique("file"));
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    const path = { softwareModuleId: moduleId, fileName: artifact.providedFilename };
    const ask = (count: number) => {
      const ranges = Array.from({ length: count }, (_, n) => `${n * 300}-${n * 300 + 9}`);
      return device(controllerId).ask(r.device.artifact, path, { headers: { range: `bytes=${ranges.join(",")}` } });
    };
    // SWUpdate and zckdl ask for 150 and more.
    for (const count of [65, 150, 512]) {
      const { status, text } = await ask(count);
      const parts = [...text.matchAll(/content-range: bytes (\d+)-(\d+)\/200000\r\n\r\n(\d{10})\r\n--/gi)];
      expect([status, parts.length]).toEqual([206, count]);
      expect(parts.map(([, from]) => Number(from))).toEqual(Array.from({ length: count }, (_, n) => n * 300));
    }
    expect((await ask(513)).status).toBe(416);
  });

  it("device 6.2 there is no 304 for a download", async () => {
    const { status } = await fetch({ "if-none-match": `"${sha1(bytes)}"` });
    expect(status).toBe(200);
  });

  it("device 6.3 a file that is downloaded in ranges is complete and unchanged", async () => {
    const pieces: Buffer[] = [];
    for (let at = 0; ; at += 300) {
      const { status, bytes: piece } = await fetch({ range: `bytes=${at}-${at + 299}` });
      // rauc takes the 416 right behind the end for "complete".
      if (status === 416) break;
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect((await fetch({ range: `bytes=${size}-` })).status).toBe(416);
  });

  it("device 6.3 many small ranges at once are all served", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => fetch({ range: `bytes=${n}-${n + 4}` })));
    for (const [n, { status, bytes: piece }] of answers.entries())
      expect([status, piece.equals(bytes.subarray(n, n + 5))]).toEqual([206, true]);
  });
});

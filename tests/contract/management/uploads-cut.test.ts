import { existsSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type ArtifactView, routeTable as r } from "@harrier/contracts";
import { multipart } from "@harrier/testkit";
import { describe, expect, it } from "vitest";
import { build, sha256, someBytes, unique } from "../support/build.ts";
import { call, urlOf } from "../support/call.ts";
import { baseUrl, credentials, send, storageDir } from "../support/http.ts";
import { eventually, pause } from "../support/wait.ts";

const list = async (softwareModuleId: number) =>
  (await call<ArtifactView[]>(r.artifacts.list, "spec", { params: { softwareModuleId } })).json;

/** Lists the files in the storage whose path holds a word; the list is empty where the storage is elsewhere. */
const stored = (word: string): string[] =>
  storageDir !== "" && existsSync(storageDir)
    ? readdirSync(storageDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath}/${entry.name}`)
        .filter((path) => path.includes(word))
    : [];

interface Sending {
  declared: number;
  sent: Buffer;
}

/** Sends the head of an upload and some of its body over a bare socket. */
async function begin(softwareModuleId: number, type: string, { declared, sent }: Sending): Promise<Socket> {
  const { hostname, port, host } = new URL(baseUrl);
  const head = [
    `POST ${urlOf(r.artifacts.upload, "spec", { params: { softwareModuleId } })} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: ${credentials.admin}`,
    `Content-Type: ${type}`,
    `Content-Length: ${declared}`,
  ];
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => socket.on("connect", resolve));
  socket.on("error", () => undefined);
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await new Promise((resolve) => socket.write(sent, resolve));
  return socket;
}

/** Sends an upload, and cuts it. */
async function cut(softwareModuleId: number, type: string, sending: Sending): Promise<void> {
  const socket = await begin(softwareModuleId, type, sending);
  await pause(200);
  socket.resetAndDestroy();
}

/** Sends an upload and says that nothing more comes; answers all that was said to it. */
async function sendAndEnd(softwareModuleId: number, type: string, sending: Sending): Promise<string> {
  const socket = await begin(softwareModuleId, type, sending);
  const answer = text(socket);
  socket.end();
  return await answer.catch(() => "");
}

describe("interrupted uploads", () => {
  it("an upload whose client stops sending is 408", { timeout: 90_000 }, async () => {
    const { id } = await build.module();
    const { type, body } = multipart([{ filename: "stalled.bin", bytes: someBytes(10_000) }]);
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    const answered = new Promise<string>((resolve) => socket.on("data", (chunk) => resolve(String(chunk))).on("error", () => resolve("")));
    const head = [
      `POST ${urlOf(r.artifacts.upload, "spec", { params: { softwareModuleId: id } })} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: ${credentials.admin}`,
      `Content-Type: ${type}`,
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    socket.write(body.subarray(0, 5_000));
    expect(await answered).toMatch(/^HTTP\/1\.1 408 /);
    socket.destroy();
    expect(await list(id)).toEqual([]);
  });

  it.each([10_000, 3_000_000])("bad input: an upload of %d bytes that is cut in the middle leaves nothing behind", async (size) => {
    const { id } = await build.module();
    const bytes = someBytes(size);
    const { type, body } = multipart([{ filename: "cut.bin", bytes }]);
    await cut(id, type, { declared: body.length, sent: body.subarray(0, Math.floor(body.length / 2)) });
    await pause(500);
    expect(await list(id)).toEqual([]);
    // The name is free, so the whole file can be sent again.
    const artifact = await build.upload(id, bytes, "cut.bin");
    expect(artifact.hashes.sha256).toBe(sha256(bytes));
  });

  it("bad input: the storage holds no part of interrupted or rejected uploads", async () => {
    const { id } = await build.module();
    const bytes = someBytes(200_000);
    const { type, body } = multipart([{ filename: "cut.bin", bytes }]);
    await cut(id, type, { declared: body.length, sent: body.subarray(0, 150_000) });
    const wrong = multipart([{ filename: "wrong.bin", bytes }, ["sha1sum", "0".repeat(40)]]);
    const headers = { authorization: credentials.admin, "content-type": wrong.type };
    const path = urlOf(r.artifacts.upload, "spec", { params: { softwareModuleId: id } });
    expect((await send(path, { method: "POST", headers, body: wrong.body })).status).toBe(400);
    await pause(300);
    expect(stored(sha256(bytes))).toEqual([]);
    // Other tests upload meanwhile, so their staged files may appear for a while. Parts of uploads that go on later stay on purpose.
    const staged = () => stored("staging").filter((path) => !path.includes(".parts/"));
    await eventually(async () => staged().length === 0 && stored("/tmp-").length === 0, 30_000);
  });

  it.each([
    ["longer", 5_000, ""],
    ["shorter", -2_000, "HTTP/1.1 400 "],
  ])("bad input: a length that is %s than what comes makes no artifact, and the file can be sent again", async (_what, by, answer) => {
    const { id } = await build.module();
    const bytes = someBytes(50_000);
    const { type, body } = multipart([{ filename: "lied.bin", bytes }]);
    expect(await sendAndEnd(id, type, { declared: body.length + by, sent: body })).toMatch(new RegExp(`^${answer}`));
    expect(await list(id)).toEqual([]);
    await eventually(async () => stored(sha256(bytes)).length === 0, 10_000);
    expect((await build.upload(id, bytes, "lied.bin")).hashes.sha256).toBe(sha256(bytes));
  });

  it("bad input: a form that ends before its boundary is 400", async () => {
    const { id } = await build.module();
    const { type, body } = multipart([{ filename: "f", bytes: someBytes(5_000) }]);
    const headers = { authorization: credentials.admin, "content-type": type };
    const path = urlOf(r.artifacts.upload, "spec", { params: { softwareModuleId: id } });
    const { status, json } = await send<{ errorCode: string }>(path, { method: "POST", headers, body: body.subarray(0, 3_000) });
    expect([status, json.errorCode]).toEqual([400, "hawkbit.server.error.artifact.uploadFailed"]);
    expect(await list(id)).toEqual([]);
  });

  it("clients 18 a chunked upload without a length, with name and checksums after the file, is stored", async () => {
    const { id } = await build.module();
    const bytes = someBytes(300_000);
    const { type, body } = multipart([{ filename: "x", bytes }, ["filename", "chunked.bin"], ["sha256sum", sha256(bytes)]]);
    const pieces = Array.from({ length: Math.ceil(body.length / 7_777) }, (_, n) => body.subarray(n * 7_777, (n + 1) * 7_777));
    const headers = { authorization: credentials.admin, "content-type": type };
    const path = urlOf(r.artifacts.upload, "rest", { params: { softwareModuleId: id } });
    const { status, json } = await send<ArtifactView>(path, { method: "POST", headers, body: Readable.from(pieces) });
    expect([status, json.providedFilename, json.size]).toEqual([201, "chunked.bin", bytes.length]);
  });

  it("a file of several megabytes is downloaded unchanged", async () => {
    const { id } = await build.module();
    const artifact = await build.upload(id, someBytes(8_000_000), unique("big"));
    expect(artifact.hashes.sha256).toBe(sha256(artifact.bytes));
    const path = urlOf(r.artifacts.download, "spec", { params: { softwareModuleId: id, artifactId: artifact.id } });
    const { bytes } = await send(path, { headers: { authorization: credentials.admin } });
    expect(bytes.equals(artifact.bytes)).toBe(true);
  });
});

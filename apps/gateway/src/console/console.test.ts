import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Edge, openEdge } from "../routing/edge.fixture.ts";
import { findConsole, readConsole } from "./console-files.ts";

const script = "export const answer = 42;";
const documentText = `<!doctype html><html><head><base href="/console/"><title>c</title></head><body></body></html>`;
let folder: string;
let edge: Edge;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "console-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), documentText);
  writeFileSync(join(folder, "harrier.svg"), "<svg/>");
  writeFileSync(join(folder, "assets", "main-abc.js"), script);
  writeFileSync(join(folder, "assets", "main-abc.js.gz"), gzipSync(script));
  writeFileSync(join(folder, "assets", "main-abc.js.br"), "as brotli");
  writeFileSync(join(folder, "assets", "main-abc.js.map"), "{}");
  writeFileSync(join(folder, "assets", "hash.worker-abc.js"), script);
  edge = await openEdge(readConsole(folder));
});
afterAll(() => {
  edge.close();
  rmSync(folder, { recursive: true });
});

interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
}

/** Sends the path as it is: `fetch` would resolve its dots. */
function ask(path: string, headers: Record<string, string> = {}, method = "GET", port = edge.port): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path, method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("end", () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers as Answer["headers"], text: Buffer.concat(chunks).toString("latin1") }),
      );
    });
    sent.on("error", reject).end();
  });
}

test("every screen is the document, with every security header, and is asked for again each time", async () => {
  const { status, headers, text } = await ask("/console/rollouts/11?tab=groups");
  expect(status).toBe(200);
  expect(text).toBe(documentText);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
  });
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
      "worker-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types harrier-worker",
  );
  expect(headers).not.toHaveProperty("access-control-allow-origin");
  const again = await ask("/console/rollouts/11", { "if-none-match": headers["etag"] ?? "" });
  expect(again).toMatchObject({ status: 304, text: "" });
});

test("files with a hash in their name are kept for a year, in the encoding that the browser takes", async () => {
  const plain = await ask("/console/assets/main-abc.js");
  expect(plain).toMatchObject({ status: 200, text: script });
  expect(plain.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  const both = await ask("/console/assets/main-abc.js", { "accept-encoding": "gzip, br" });
  expect(both).toMatchObject({ text: "as brotli", headers: { "content-encoding": "br" } });
  const gzip = await ask("/console/assets/main-abc.js", { "accept-encoding": "gzip, br;q=0" });
  expect(gzip.headers["content-encoding"]).toBe("gzip");
  expect(new Set([plain, both, gzip].map(({ headers }) => headers["etag"])).size).toBe(3);
  const head = await ask("/console/assets/main-abc.js", {}, "HEAD");
  expect(head).toMatchObject({ status: 200, text: "", headers: { "content-length": String(script.length) } });
});

test("a worker has a policy of its own, and other files keep that of the document", async () => {
  const worker = await ask("/console/assets/hash.worker-abc.js");
  expect(worker.headers["content-security-policy"]).toBe("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'");
  expect((await ask("/console/harrier.svg")).headers).toMatchObject({ "content-type": "image/svg+xml", "cache-control": "no-cache" });
});

test.each([
  "/console/assets/none.js",
  "/console/assets/../index.html",
  "/console/assets/..%2findex.html",
  "/console/assets/main-abc.js.map",
])("%s is no file of the build: 404", async (path) => {
  expect(await ask(path)).toMatchObject({ status: 404, text: "not found\n" });
});

test.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s is not for files", async (method) => {
  const { status, headers } = await ask("/console/", {}, method);
  expect(status).toBe(405);
  expect(headers["allow"]).toBe("GET, HEAD");
});

test("a tenant may be called console: its devices' paths are theirs, even those that no route knows", async () => {
  const before = edge.passed.length;
  expect((await ask("/console/controller/v1/dev-1", { authorization: "7 dev-1", "x-forwarded-for": "203.0.113.1" })).status).toBe(200);
  expect(edge.passed.slice(before)).toEqual(["GET /console/controller/v1/dev-1"]);
  expect((await ask("/console/controller/v1/dev-1/nothing")).status).toBe(404);
  expect((await ask("/consoles/controller/v1/dev-1", { authorization: "7 dev-1" })).status).toBe(200);
});

test("behind a trusted proxy's prefix the document and the redirects are below it, and no prefix becomes markup", async () => {
  const prefixed = { "x-forwarded-for": "203.0.113.1", "x-forwarded-prefix": "/fleet" };
  expect((await ask("/console/a/b", prefixed)).text).toContain(`<base href="/fleet/console/">`);
  expect((await ask("/console", prefixed)).headers["location"]).toBe("/fleet/console/");
  expect((await ask("/", { ...prefixed, accept: "text/html" })).headers["location"]).toBe("/fleet/console/");
  const forged = { ...prefixed, "x-forwarded-prefix": `/x"><script>` };
  expect((await ask("/console/", forged)).text).toBe(documentText);
});

test("browsers go from / to the console, others to the documentation as ever, and HEAD stays 200", async () => {
  expect(await ask("/", { accept: "text/html,*/*" })).toMatchObject({ status: 302, headers: { location: "/console/" } });
  expect(await ask("/", { accept: "*/*" })).toMatchObject({ status: 302, headers: { location: "/api/docs/" } });
  expect((await ask("/", { accept: "text/html" }, "HEAD")).status).toBe(200);
  expect(await ask("/console")).toMatchObject({ status: 308, headers: { location: "/console/" } });
});

test("without a console there are its configuration and nothing else", async () => {
  const bare = await openEdge();
  try {
    expect((await ask("/console/", {}, "GET", bare.port)).status).toBe(404);
    expect((await ask("/", { accept: "text/html" }, "GET", bare.port)).headers["location"]).toBe("/api/docs/");
    const config = await ask("/console/config", {}, "GET", bare.port);
    expect(config.headers).toMatchObject({ "content-type": "application/json", "cache-control": "private, max-age=60" });
    expect(JSON.parse(config.text)).toEqual({
      version: "1",
      signIn: { password: true, issuers: [] },
      publicUrl: `http://127.0.0.1:${bare.port}`,
      features: { events: true, insights: true, uploads: true, webhooks: true },
    });
  } finally {
    bare.close();
  }
});

test("a folder that is no console is an error at the start", () => {
  const empty = mkdtempSync(join(tmpdir(), "none-"));
  expect(() => readConsole(empty)).toThrow("has no index.html");
  expect(findConsole(undefined, empty)).toBeUndefined();
  expect(findConsole("none", folder)).toBeUndefined();
  expect(findConsole(undefined, folder)?.index).toBe(documentText);
  writeFileSync(join(empty, "index.html"), "x");
  writeFileSync(join(empty, "large.bin"), Buffer.alloc(16 * 1024 * 1024 + 1));
  expect(() => readConsole(empty)).toThrow("16 MiB");
  rmSync(empty, { recursive: true });
});

test("links in the folder are not followed out of it", () => {
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  writeFileSync(join(outside, "secret.txt"), "secret");
  symlinkSync(join(outside, "secret.txt"), join(folder, "linked.txt"));
  expect(readConsole(folder).files.has("linked.txt")).toBe(false);
  rmSync(outside, { recursive: true });
});

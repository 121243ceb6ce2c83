import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { createS3Storage } from "./s3.ts";
import { contentKey, stagingKey } from "./storage.ts";

const silenceMs = 300;
const key = stagingKey(1, "00000000-0000-4000-8000-000000000001");
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An object store that answers as it is told to; the question for the bucket's region is always answered. */
async function storeThat(answer: RequestListener) {
  server = createServer((req, res) => {
    if (req.url?.includes("?location")) res.end('<?xml version="1.0"?><LocationConstraint>us-east-1</LocationConstraint>');
    else answer(req, res);
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return createS3Storage({ endpoint, accessKey: "a", secretKey: "secretkey", bucket: "bucket", silenceMs });
}

it.each([
  ["XMinioStorageFull", 507],
  ["XMinioAdminBucketQuotaExceeded", 400],
])("says that a store which answers %s is full", async (code, status) => {
  let asked = 0;
  const storage = await storeThat((req, res) => {
    asked += 1;
    req.resume().on("end", () => {
      res.writeHead(status, { "content-type": "application/xml" });
      res.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no room</Message></Error>`);
    });
  });
  await expect(storage.put(key, Readable.from([Buffer.alloc(10)]))).rejects.toMatchObject({ code: "storageFull" });
  expect(asked).toBe(1);
});

it.each(["put", "stat", "delete", "open"] as const)("%s ends with an error when the store says nothing", async (what) => {
  const storage = await storeThat(() => {});
  const calls = {
    put: () => storage.put(key, Readable.from([Buffer.alloc(10)])),
    stat: () => storage.stat(key),
    delete: () => storage.delete(key),
    open: () => storage.open(contentKey(1, "00"), 10),
  };
  await expect(calls[what]()).rejects.toThrow(/said nothing|could not be|ETIMEDOUT|artifact/i);
});

it("does not time the bytes of a download", async () => {
  const storage = await storeThat((_req, res) => {
    res.writeHead(200, { "content-length": "2", etag: '"e"' });
    res.write("a");
    setTimeout(() => res.end("b"), silenceMs * 3);
  });
  const source = await storage.open(contentKey(1, "00"), 2);
  expect((await buffer(source)).toString()).toBe("ab");
});

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { createS3Storage } from "./s3.ts";
import { contentKey, type Storage, stagingKey } from "./storage.ts";

const silenceMs = 300;
const key = stagingKey(1, "00000000-0000-4000-8000-000000000001");
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Starts a test double of an object store that answers as given; it always answers the request for the bucket's region. */
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
])("reports that the store is full if it answers %s", async (code, status) => {
  let requested = 0;
  const storage = await storeThat((req, res) => {
    requested += 1;
    req.resume().on("end", () => {
      res.writeHead(status, { "content-type": "application/xml" });
      res.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no room</Message></Error>`);
    });
  });
  await expect(storage.put(key, Readable.from([Buffer.alloc(10)]))).rejects.toMatchObject({ code: "storageFull" });
  expect(requested).toBe(1);
});

const operations = ["put", "putPart", "joinParts", "promote", "stat", "delete", "open"] as const;
const part = { key, place: "1", number: 1, offset: 0, size: 10, interruptions: 0 };
const ask = (storage: Storage, what: (typeof operations)[number]): Promise<unknown> =>
  ({
    put: () => storage.put(key, Readable.from([Buffer.alloc(10)])),
    putPart: () => storage.putPart(part, Readable.from([Buffer.alloc(10)])),
    joinParts: () => storage.joinParts(key, { place: "1", receipts: ["e"], partSize: 10, size: 10, owner: "a" }),
    promote: () => storage.promote(key, contentKey(1, "00")),
    stat: () => storage.stat(key),
    delete: () => storage.delete(key),
    open: () => storage.open(contentKey(1, "00"), 10),
  })[what]();
const unavailable = { code: "unavailable", headers: { "retry-after": "5" } };

it.each(operations)("%s is unavailable after three attempts if the store is silent", async (what) => {
  let requested = 0;
  const storage = await storeThat(() => {
    requested += 1;
  });
  await expect(ask(storage, what)).rejects.toMatchObject(unavailable);
  expect(requested).toBe(3);
});

it.each(operations)("%s is unavailable if nothing listens at the store's address", async (what) => {
  const storage = await storeThat(() => {});
  await new Promise((resolve) => server?.close(resolve));
  await expect(ask(storage, what)).rejects.toMatchObject(unavailable);
});

it.each(operations)("%s is unavailable if the store answers 500", async (what) => {
  const storage = await storeThat((req, res) => req.resume().on("end", () => res.writeHead(500).end()));
  await expect(ask(storage, what)).rejects.toMatchObject(unavailable);
});

it("an upload in parts is unavailable if the store goes away meanwhile, and makes no further request", async () => {
  const requested: string[] = [];
  const storage = await storeThat((req, res) => {
    const begins = req.method === "POST" && req.url?.endsWith("?uploads") === true;
    requested.push(begins ? "begin" : String(req.method));
    if (begins) res.end("<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>");
  });
  await expect(storage.put(key, Readable.from([Buffer.alloc(9 * 1024 * 1024)]))).rejects.toMatchObject(unavailable);
  expect(requested).toEqual(["begin", "PUT", "PUT", "PUT"]);
});

it("a connection error of the source does not count as an outage of the store", async () => {
  const storage = await storeThat((_req, res) => res.end());
  const source = new Readable({ read() {} });
  source.push(Buffer.alloc(10));
  setImmediate(() => source.destroy(Object.assign(new Error("aborted"), { code: "ECONNRESET" })));
  await expect(storage.put(key, source)).rejects.toMatchObject({ code: "ECONNRESET" });
});

it("a request that the store refuses for good is not repeated and does not count as an outage", async () => {
  let requested = 0;
  const storage = await storeThat((req, res) => {
    requested += 1;
    req.resume().on("end", () => res.writeHead(403).end());
  });
  await expect(ask(storage, "put")).rejects.toMatchObject({ code: "AccessDenied" });
  expect(requested).toBe(1);
});

it("the timeout does not apply to the bytes of a download", async () => {
  const storage = await storeThat((_req, res) => {
    res.writeHead(200, { "content-length": "2", etag: '"e"' });
    res.write("a");
    setTimeout(() => res.end("b"), silenceMs * 3);
  });
  const source = await storage.open(contentKey(1, "00"), 2);
  expect((await buffer(source)).toString()).toBe("ab");
});

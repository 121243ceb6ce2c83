import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import type { Stack } from "@harrier/stack";
import { eventually, type Minio, startMinio, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, basicOf, replicaOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// However many files one tenant sends into a bucket at a time, and however slowly, the memory of artifact-store stays flat, and others go on.

let minio: Minio;
let stack: Stack;
beforeAll(async () => {
  minio = await startMinio();
  const { endpoint, accessKey, secretKey } = minio;
  stack = await startAnsweringStack({ s3: { endpoint, accessKey, secretKey, bucket: "harrier-memory" } });
});
afterAll(async () => {
  await stack?.stop();
  await minio?.stop();
});

const mebi = 2 ** 20;
/** Less than a block: whoever reads it has to keep it. */
const head = randomBytes(7 * mebi);
const tail = randomBytes(2 * mebi);
const boundary = "a-boundary-of-this-test";

interface Sender {
  readonly request: ClientRequest;
  /** The head has left this process, so that somebody holds most of it. */
  readonly sent: () => boolean;
  readonly answer: Promise<{ status: number | undefined; body: { hashes?: { sha256: string } } }>;
}

/** Begins an upload in one request, and sends all but its tail. */
function begin(moduleId: number, name: string): Sender {
  let sent = false;
  const sending = request(`${stack.baseUrl}/api/mgmt/v1/softwaremodules/${moduleId}/artifacts`, {
    method: "POST",
    headers: { authorization: basicOf(stack), "content-type": `multipart/form-data; boundary=${boundary}` },
    agent: false,
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => sending.once("error", reject).once("response", resolve));
  const answer = response.then(async (res) => ({ status: res.statusCode, body: (await json(res)) as { hashes?: { sha256: string } } }));
  sending.write(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`);
  sending.write(head, () => {
    sent = true;
  });
  return { request: sending, sent: () => sent, answer };
}

function finish({ request: sending }: Sender): void {
  sending.write(tail);
  sending.end(`\r\n--${boundary}--\r\n`);
}

/** The most memory that artifact-store has ever had resident. */
function peak(): number {
  const text = readFileSync(`/proc/${replicaOf(stack, "artifact-store").pid()}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1]) * 1_024;
}

test("40 uploads in one request that stand still hold four blocks, end well one after the other, and one in parts goes on meanwhile", async () => {
  const api = adminOf(stack);
  const module = await api.createModule({ name: uniqueName("memory") });
  const warm = begin(module.id, "warm.img");
  finish(warm);
  expect((await warm.answer).status).toBe(201);
  const before = peak();
  const senders = Array.from({ length: 40 }, (_, n) => begin(module.id, `slow-${n}.img`));
  await eventually(() => expect(senders.filter(({ sent }) => sent()).length).toBeGreaterThanOrEqual(4), 60_000);
  const size = 1_000_000;
  const path = `softwaremodules/${module.id}/artifacts/uploads`;
  const { id } = await api.post<{ id: string }>(path, { filename: "parts.img", size });
  const part = await fetch(`${stack.baseUrl}/api/mgmt/v1/${path}/${id}?offset=0`, {
    method: "PUT",
    headers: { authorization: basicOf(stack), "content-type": "application/octet-stream" },
    body: randomBytes(size),
  });
  expect(part.status).toBe(200);
  for (const sender of senders) finish(sender);
  const answers = await Promise.all(senders.map(({ answer }) => answer));
  const sha256 = createHash("sha256").update(head).update(tail).digest("hex");
  expect(answers.map(({ status }) => status)).toEqual(senders.map(() => 201));
  expect(new Set(answers.map(({ body }) => body.hashes?.sha256))).toEqual(new Set([sha256]));
  console.log(`artifact-store: ${Math.round(before / mebi)} MiB, with 40 uploads ${Math.round(peak() / mebi)} MiB at most`);
  // Forty blocks would be 280 MiB; what is freed goes back a little later.
  expect(peak() - before).toBeLessThan(180 * mebi);
});

import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { type Minio, startMinio, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminOf, basicOf, replicaOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";

// Files of more than 5 GiB (above that S3 copies in parts) go up in one request, and in parts over five kills of artifact-store, and come down again
// through the gateway, with flat memory in both of them.

const size = Number(process.env["HARRIER_TEST_MEBIBYTES"] || 5_632) * 2 ** 20;
const kills = 5;
/** What the gateway and artifact-store may have resident at any time. */
const memory = 300_000_000;
const block = 2 ** 20;

/** A file of one random block, behind a first one of its own, so that no two are equal. */
function makeFile() {
  const [first, rest] = [randomBytes(block), randomBytes(block)];
  const blocks = function* (from = 0, to = size): Generator<Buffer> {
    for (let at = from; at < to; at += block) yield (at === 0 ? first : rest).subarray(0, Math.min(block, to - at));
  };
  const hash = createHash("sha256");
  for (const bytes of blocks()) hash.update(bytes);
  return { blocks, sha256: hash.digest("hex") };
}

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

describe.each(["directory", "bucket"])("%s", (kind) => {
  let minio: Minio | undefined;
  let stack: Stack;
  const agent = new Agent({ keepAlive: true });
  const peaks: Record<string, number> = {};

  beforeAll(async () => {
    minio = kind === "bucket" ? await startMinio() : undefined;
    const s3 = minio && { endpoint: minio.endpoint, accessKey: minio.accessKey, secretKey: minio.secretKey, bucket: "harrier-large" };
    stack = await startAnsweringStack(s3 === undefined ? {} : { s3 });
    await adminOf(stack).call(`system/tenants/DEFAULT/quotas/ARTIFACT_MAX_BYTES`, { method: "PUT", body: { limit: 8 * 2 ** 30 } });
    await adminOf(stack).call(`system/tenants/DEFAULT/quotas/ARTIFACT_STORAGE_MAX_BYTES`, { method: "PUT", body: { limit: 40 * 2 ** 30 } });
  });
  afterAll(async () => {
    agent.destroy();
    await stack?.stop();
    await minio?.stop();
  });

  /** Notes the most memory that a life of both processes has had so far; also before one is killed. */
  function notePeaks(): void {
    for (const service of ["gateway", "artifact-store"] as const) {
      const pid = replicaOf(stack, service).pid();
      if (pid === undefined) continue;
      const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      peaks[service] = Math.max(peaks[service] ?? 0, Number(found) * 1_024);
    }
  }

  function send<Body>(method: string, path: string, headers: Record<string, string> = {}, body?: Iterable<Buffer>): Promise<Answer<Body>> {
    return new Promise((resolve, reject) => {
      const authorization = basicOf(stack);
      const sent = request(`${stack.baseUrl}/api/mgmt/v1/${path}`, { method, agent, headers: { authorization, ...headers } }, (res) => {
        let text = "";
        res.setEncoding("utf8").on("data", (piece) => {
          text += piece;
        });
        res.on("end", () => resolve({ status: res.statusCode ?? 0, body: (text === "" ? {} : JSON.parse(text)) as Body }));
        res.on("error", reject);
      });
      sent.on("error", reject);
      if (body === undefined) sent.end();
      else Readable.from(body).pipe(sent);
    });
  }

  async function download(module: number, artifact: number): Promise<string> {
    const { status, body } = await fetch(`${stack.baseUrl}/api/mgmt/v1/softwaremodules/${module}/artifacts/${artifact}/download`, {
      headers: { authorization: basicOf(stack) },
    });
    expect(status).toBe(200);
    const hash = createHash("sha256");
    for await (const bytes of body as unknown as AsyncIterable<Buffer>) hash.update(bytes);
    return hash.digest("hex");
  }

  test("in one request, and down again", async () => {
    const file = makeFile();
    const { id } = await adminOf(stack).createModule({ name: uniqueName("large") });
    const boundary = "a-boundary-of-this-test";
    const form = function* (): Generator<Buffer> {
      yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f.img"\r\n\r\n`);
      yield* file.blocks();
      yield Buffer.from(`\r\n--${boundary}--\r\n`);
    };
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const began = Date.now();
    const made = await send<{ id: number; hashes: { sha256: string } }>("POST", `softwaremodules/${id}/artifacts`, headers, form());
    expect([made.status, made.body.hashes?.sha256]).toEqual([201, file.sha256]);
    const up = Date.now();
    expect(await download(id, made.body.id)).toBe(file.sha256);
    notePeaks();
    console.log(`${kind}: ${size} bytes up in ${up - began} ms, down in ${Date.now() - up} ms; ${JSON.stringify(peaks)}`);
  });

  test("in parts over five kills, and down again", async () => {
    const file = makeFile();
    const { id } = await adminOf(stack).createModule({ name: uniqueName("large") });
    const path = `softwaremodules/${id}/artifacts/uploads`;
    const opened = await adminOf(stack).post<{ id: string; partSize: number }>(path, { filename: "f.img", size, sha256sum: file.sha256 });
    const own = `${path}/${opened.id}`;
    const until = Date.now() + 3_000_000;
    /** Repeats what is not answered while artifact-store starts again. */
    const settle = async <Body>(method: string, to: string): Promise<Answer<Body>> => {
      for (;;) {
        const answer = await send<Body>(method, to).catch(() => undefined);
        if (answer !== undefined && answer.status !== 429 && answer.status < 500) return answer;
        if (Date.now() > until) throw new Error(`${method} ${to}: ${answer?.status}`);
        await sleep(500);
      }
    };
    let killed = 0;
    let resent = 0;
    const began = Date.now();
    for (let offset = 0; offset < size; ) {
      const end = Math.min(offset + opened.partSize, size);
      if (killed < kills && offset > ((killed + 1) / (kills + 1)) * size) {
        killed += 1;
        // in the middle of the part that follows
        setTimeout(() => {
          notePeaks();
          stack.kill("artifact-store");
        }, 5);
      }
      const headers = { "content-type": "application/octet-stream", "content-length": String(end - offset) };
      const put = await send<{ offset: number }>("PUT", `${own}?offset=${offset}`, headers, file.blocks(offset, end)).catch(
        () => undefined,
      );
      if (put?.status === 200) offset = put.body.offset;
      else {
        if (put !== undefined && put.status !== 429 && put.status < 500) throw new Error(`part at ${offset}: ${put.status}`);
        resent += 1;
        // An upload whose part was cut off is free again after seconds, and its client is told to wait.
        if (put !== undefined) await sleep(1_000);
        await serving([replicaOf(stack, "artifact-store")]);
        offset = (await settle<{ offset: number }>("GET", own)).body.offset;
      }
    }
    const made = await settle<{ id: number; hashes: { sha256: string } }>("POST", `${own}/complete`);
    expect([made.status, made.body.hashes?.sha256, killed]).toEqual([201, file.sha256, kills]);
    const up = Date.now();
    expect(await download(id, made.body.id)).toBe(file.sha256);
    notePeaks();
    console.log(
      `${kind}: ${size} bytes in parts in ${up - began} ms, ${resent} sent again, down in ${Date.now() - up} ms; ${JSON.stringify(peaks)}`,
    );
  });

  test("gateway and artifact-store had less than 300 MB resident all the time", () => {
    expect(Object.entries(peaks).filter(([, bytes]) => bytes >= memory)).toEqual([]);
    expect(Object.keys(peaks)).toHaveLength(2);
  });
});

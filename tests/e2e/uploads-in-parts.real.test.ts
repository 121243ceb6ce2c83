import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { type Minio, startMinio, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, describe, test } from "vitest";
import { adminOf, basicOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";

// A client that resumes (contract console.md M15) ends up with the artifact, however often artifact-store is killed, in a directory and in a bucket.
// Both mostly wait for leases of killed processes, so they do it side by side.

/** A kill at each named moment of a part and of the completion, one after the other, and one more within the bytes of a part. */
const faults = [
  "artifact-store.part.after-store:2",
  "artifact-store.part.after-commit:2",
  "artifact-store.complete.after-join:1",
  "artifact-store.complete.after-commit:1",
];

interface Upload {
  readonly id: string;
  readonly status: string;
  readonly offset: number;
  readonly partSize: number;
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe.concurrent.each(["directory", "bucket"])("uploads in parts and kill -9, %s", (kind) => {
  let minio: Minio | undefined;
  let stack: Stack;
  const deaths: string[] = [];

  beforeAll(async () => {
    minio = kind === "bucket" ? await startMinio() : undefined;
    const s3 = minio && { endpoint: minio.endpoint, accessKey: minio.accessKey, secretKey: minio.secretKey, bucket: "harrier-parts" };
    const print = (line: string): void => {
      const name = /^\[(.+)\] ended \(SIGKILL\)/.exec(line)?.[1];
      if (name !== undefined) deaths.push(name);
    };
    stack = await startAnsweringStack({ print, ...(s3 === undefined ? {} : { s3 }) });
  });
  afterAll(async () => {
    await stack?.stop();
    await minio?.stop();
  });

  /** Makes a request, or says that it got no answer from which to go on at once. */
  async function attempt<Body>(path: string, init: RequestInit): Promise<{ status: number; body: Body } | undefined> {
    const headers = { authorization: basicOf(stack), ...init.headers };
    try {
      const answer = await fetch(`${stack.baseUrl}/api/mgmt/v1/${path}`, { ...init, headers, signal: AbortSignal.timeout(60_000) });
      const text = await answer.text();
      if (answer.status === 429 || answer.status >= 500) return undefined;
      return { status: answer.status, body: (text === "" ? {} : JSON.parse(text)) as Body };
    } catch {
      return undefined;
    }
  }

  /** Repeats a request until there is such an answer: leases of killed processes run out after 15 s. */
  async function settle<Body>(path: string, init: RequestInit = {}): Promise<{ status: number; body: Body }> {
    const until = Date.now() + 90_000;
    for (;;) {
      const answer = await attempt<Body>(path, init);
      if (answer !== undefined) return answer;
      if (Date.now() > until) throw new Error(`${path}: no answer`);
      await sleep(500);
    }
  }

  /** Sends what is missing, part by part; `beforePart` does harm. */
  async function sendRest(path: string, bytes: Buffer, beforePart: (number: number) => Promise<void> | void): Promise<void> {
    for (;;) {
      const { body: upload } = await settle<Upload>(path);
      if (upload.offset === bytes.length) return;
      await beforePart(upload.offset / upload.partSize);
      const part = bytes.subarray(upload.offset, upload.offset + upload.partSize);
      const headers = {
        "content-type": "application/octet-stream",
        "content-digest": `sha-256=:${createHash("sha256").update(part).digest("base64")}:`,
      };
      await attempt(`${path}?offset=${upload.offset}`, { method: "PUT", headers, body: new Uint8Array(part) });
    }
  }

  const artifactStore = () => stack.services.filter(({ service }) => service === "artifact-store");

  test("no byte that was answered is lost by five kills, and the hash is that of the file", { timeout: 600_000 }, async ({ expect }) => {
    const bytes = randomBytes(44_000_000);
    const module = await adminOf(stack).createModule({ name: uniqueName("parts") });
    const path = `softwaremodules/${module.id}/artifacts/uploads`;
    const file = { filename: "fw.img", size: bytes.length, sha256sum: sha256(bytes) };
    const json = { "content-type": "application/json" };
    const { body: upload } = await settle<Upload>(path, { method: "POST", headers: json, body: JSON.stringify(file) });
    const own = `${path}/${upload.id}`;
    const before = deaths.length;
    let armed = 0;
    const arm = async (): Promise<void> => {
      const fault = faults[armed];
      armed += 1;
      if (fault === undefined) return;
      await stack.restart("artifact-store", 0, fault);
      await serving(artifactStore());
    };
    const seen = new Set<number>();
    await sendRest(own, bytes, async (number) => {
      if (number === 0 && seen.size === 0) await arm();
      if (number === 2 && !seen.has(2)) await arm();
      // this one dies while the part is on its way
      if (number === 4 && !seen.has(4)) setTimeout(() => stack.kill("artifact-store"), 20);
      seen.add(number);
    });
    await serving(artifactStore());
    let artifact: { id: number; size: number; hashes: { sha256: string } } | undefined;
    for (let n = 0; artifact === undefined && n < 200; n += 1) {
      if (armed < faults.length) await arm();
      const answer = await attempt<typeof artifact & object>(`${own}/complete`, { method: "POST" });
      if (answer?.status === 201) artifact = answer.body;
      else if (answer !== undefined) throw new Error(`completion: ${answer.status} ${JSON.stringify(answer.body)}`);
      else await sleep(500);
    }
    expect(artifact).toMatchObject({ size: bytes.length, hashes: { sha256: sha256(bytes) } });
    expect(deaths.slice(before).filter((name) => name.startsWith("artifact-store"))).toHaveLength(5);
    const { body: row } = await settle<Upload>(own);
    expect(row.status).toBe("completed");
    const download = await fetch(`${stack.baseUrl}/api/mgmt/v1/softwaremodules/${module.id}/artifacts/${artifact?.id}/download`, {
      headers: { authorization: basicOf(stack) },
    });
    expect(sha256(Buffer.from(await download.arrayBuffer()))).toBe(sha256(bytes));
  });
});

import { expect } from "vitest";
import type { Answer, Call, RunningService } from "../service.suite.ts";
import { partSize } from "../storage/storage.ts";

/** The path of the uploads in parts of one module. */
export const path = "/api/mgmt/v1/softwaremodules/11/artifacts/uploads";

export const code = (answer: Answer): [number, unknown] => [answer.status, answer.json()["errorCode"]];

export const json = (value: object): Call => ({
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(value)),
});

export const octets = (body: Buffer, headers: Record<string, string> = {}): Call => ({
  headers: { "content-type": "application/octet-stream", "content-length": String(body.length), ...headers },
  body,
});

/** A client of uploads in parts; the service has not started when it is made. */
export function uploadsOf(service: () => RunningService) {
  const put = (id: string, offset: number, body: Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
    service().call("PUT", `${path}/${id}?offset=${offset}`, octets(body, headers));
  return {
    put,
    async open(size: number, more: object = {}): Promise<string> {
      const answer = await service().call("POST", path, json({ filename: "fw.bin", size, ...more }));
      expect(answer.status, String(answer.body)).toBe(201);
      return String(answer.json()["id"]);
    },
    get: (id: string): Promise<Answer> => service().call("GET", `${path}/${id}`),
    complete: (id: string): Promise<Answer> => service().call("POST", `${path}/${id}/complete`),
    cancel: (id: string): Promise<Answer> => service().call("DELETE", `${path}/${id}`),
    /** Sends everything from an offset on, part by part. */
    async sendFrom(id: string, bytes: Buffer, offset = 0): Promise<void> {
      for (let at = offset; at < bytes.length; at += partSize) {
        const answer = await put(id, at, bytes.subarray(at, at + partSize));
        expect(answer.status, String(answer.body)).toBe(200);
        expect(answer.json()["offset"]).toBe(Math.min(at + partSize, bytes.length));
      }
    },
    /** Removes all uploads, and what tests have changed. */
    async clear(): Promise<void> {
      const { bench, neighbours } = service();
      await bench.sql("delete from artifact_store.resumable_uploads");
      await bench.clear();
      for (const failures of Object.values(neighbours.failures)) failures.length = 0;
      neighbours.attached.length = 0;
      neighbours.maxBytes = 100_000_000;
    },
    async expectNothingLeft(): Promise<void> {
      const { bench } = service();
      expect(await bench.files()).toEqual([]);
      expect(await bench.rows()).toEqual({ blobs: 0, blobReferences: 0, uploads: 0 });
      expect(await bench.sql("select from artifact_store.upload_parts")).toEqual([]);
    },
  };
}

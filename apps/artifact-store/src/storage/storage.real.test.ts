import { randomUUID } from "node:crypto";
import { type Minio, startMinio } from "@harrier/testkit";
import { Client } from "minio";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createS3Storage, type S3Settings } from "./s3.ts";
import { describeStorage } from "./storage.suite.ts";
import { stagingKey } from "./storage.ts";

let minio: Minio;

beforeAll(async () => {
  minio = await startMinio();
});
afterAll(async () => minio?.stop());

function settings(): S3Settings {
  const { endpoint, accessKey, secretKey } = minio;
  return { endpoint, accessKey, secretKey, bucket: `storage-${randomUUID()}` };
}

function clientOf({ endpoint, accessKey, secretKey }: S3Settings): Client {
  const { hostname, port } = new URL(endpoint);
  return new Client({ endPoint: hostname, port: Number(port), useSSL: false, accessKey, secretKey });
}

describeStorage("S3", async () => {
  const bucket = settings();
  const client = clientOf(bucket);
  return {
    storage: createS3Storage(bucket),
    async contents() {
      const names: string[] = [];
      for await (const item of client.listObjectsV2(bucket.bucket, "", true)) names.push(String((item as { name?: string }).name));
      return names;
    },
    dispose: async () => {},
  };
});

it("removes the uploaded parts that a killed process left", async () => {
  const bucket = settings();
  const client = clientOf(bucket);
  const storage = createS3Storage(bucket);
  await storage.prepare();
  const key = stagingKey(7, randomUUID());
  const uploadID = await client.initiateNewMultipartUpload(bucket.bucket, key, {});
  await client.uploadPart({ bucketName: bucket.bucket, objectName: key, uploadID, partNumber: 1, headers: {} }, Buffer.alloc(6_000_000));
  expect(await client.findUploadId(bucket.bucket, key)).toBe(uploadID);
  await storage.delete(key);
  expect(await client.findUploadId(bucket.bucket, key)).toBeUndefined();
});

it("creates the bucket without an error when several replicas start at once", async () => {
  const bucket = settings();
  await Promise.all(Array.from({ length: 4 }, () => createS3Storage(bucket).prepare()));
  expect(await clientOf(bucket).bucketExists(bucket.bucket)).toBe(true);
});

import type { Readable } from "node:stream";
import { asking, type Place, retrying } from "./s3-requests.ts";
import type { CollectedParts, IncomingPart, StoredPart } from "./storage.ts";

/**
 * Sends one part of a multipart upload, which the first part begins. The receipt is the entity tag: the store joins only parts whose tags it is told,
 * so a part that a writer who was given up sends later is noticed.
 */
export async function uploadOnePart({ client, bucket, key }: Place, part: IncomingPart, source: Readable): Promise<StoredPart> {
  const bytes = await readWhole(source, part.size);
  const place = part.place ?? (await retrying(() => client.initiateNewMultipartUpload(bucket, key, {})));
  const partConfig = { bucketName: bucket, objectName: key, uploadID: place, partNumber: part.number, headers: {} };
  const { etag } = await retrying(() => client.uploadPart(partConfig, bytes));
  return { place, receipt: etag };
}

/** Reads a part into memory of exactly its size: the request to the store may have to be repeated, and the client will not send twice. */
async function readWhole(source: Readable, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) at += chunk.copy(bytes, at);
  if (at !== size) throw new Error(`a part has ${at} bytes instead of ${size}`);
  return bytes;
}

/** Ends the multipart upload. It is asked once: if the answer is lost, the caller finds the object when it tries again. */
export async function joinUploaded({ client, bucket, key }: Place, { place, receipts }: CollectedParts): Promise<void> {
  const parts = receipts.map((etag, i) => ({ part: i + 1, etag }));
  await asking(() => client.completeMultipartUpload(bucket, key, place, parts));
}

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { Client, CopyDestinationOptions, CopySourceOptions } from "minio";
import { Blocks } from "./blocks.ts";
import { mapFull } from "./reserve.ts";
import { linksOf } from "./s3-links.ts";
import { joinUploaded, uploadOnePart } from "./s3-parts.ts";
import { asking, isMissing, isUnavailable, type Place, retrying } from "./s3-requests.ts";
import { timedTransport } from "./s3-transport.ts";
import { type ByteRange, checkSize, type Memory, type StagedObject, type Storage, stagingPrefix } from "./storage.ts";

export interface S3Settings {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  /** The address at which devices reach the store; without it there are no links. */
  readonly publicEndpoint?: string;
  /** A request fails after this much silence of the store. The default fits MinIO and S3; tests set less. */
  readonly silenceMs?: number;
}

/** S3 copies at most 5 GiB in one request; larger objects are copied in parts of this size. */
const copyPartSize = 1024 ** 3;
const maxSingleCopy = 5 * 1024 ** 3;

const unbounded: Memory = { take: (_source, work) => work() };

interface Part {
  part: number;
  etag: string;
}

function connect(settings: S3Settings): Client {
  const url = new URL(settings.endpoint);
  return new Client({
    endPoint: url.hostname,
    port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
    useSSL: url.protocol === "https:",
    accessKey: settings.accessKey,
    secretKey: settings.secretKey,
    // the library's own retry is off, because it writes to the console; `retrying` repeats requests instead
    retryOptions: { disableRetry: true },
    // the transport is ours, because the library's waits for ever for a silent store
    transport: timedTransport(url.protocol, settings.silenceMs),
  });
}

/** Creates a store in a bucket of MinIO or any S3. Ranges are passed on to the store, so that a part costs only its own bytes. */
export function createS3Storage(settings: S3Settings): Storage {
  const client = connect(settings);
  const { bucket } = settings;
  const statObject = async (key: string): Promise<{ size: number; etag: string } | undefined> => {
    try {
      return await retrying(() => client.statObject(bucket, key));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    inBlocks: true,
    ...(settings.publicEndpoint === undefined ? {} : { link: linksOf(client, settings, settings.publicEndpoint) }),
    async prepare() {
      await retrying(() => createBucket(client, bucket));
    },
    // S3 does not report how much room a bucket has left
    checkSpace: async () => {},
    warning: async () => undefined,
    async put(key, source, memory = unbounded) {
      try {
        await putParts({ client, bucket, key }, source, memory);
      } catch (error) {
        source.destroy(error as Error);
        throw mapFull(error);
      }
    },
    async putPart(part, source) {
      try {
        return await uploadOnePart({ client, bucket, key: part.key }, part, source);
      } catch (error) {
        source.destroy(error as Error);
        throw mapFull(error);
      }
    },
    async joinParts(key, parts) {
      if ((await statObject(key))?.size === parts.size) return;
      try {
        await joinUploaded({ client, bucket, key }, parts);
      } catch (error) {
        throw mapFull(error);
      }
    },
    async promote(from, to) {
      const staged = await statObject(from);
      if (staged === undefined) throw new HarrierError("artifactUploadFailed", `The staged object ${from} is missing.`);
      try {
        await copy({ client, bucket, key: to }, from, staged.size);
      } catch (error) {
        throw mapFull(error);
      }
    },
    async open(key, size, range) {
      return await openObject({ client, bucket, key }, size, range);
    },
    async stat(key) {
      const found = await statObject(key);
      return found && { size: found.size };
    },
    async delete(key) {
      await retrying(() => client.removeObject(bucket, key));
      if (key.startsWith(stagingPrefix)) await abortUnfinished({ client, bucket, key });
    },
    listStaging: () => listObjects(client, bucket),
  };
}

async function createBucket(client: Client, bucket: string): Promise<void> {
  if (await client.bucketExists(bucket)) return;
  try {
    await client.makeBucket(bucket);
  } catch (error) {
    // another replica may have created the bucket meanwhile
    if ((error as { code?: string }).code !== "BucketAlreadyOwnedByYou") throw error;
  }
}

/** Aborts what a killed process left: its parts are invisible but take space. There are several only if an upload id was used twice. */
async function abortUnfinished({ client, bucket, key }: Place): Promise<void> {
  for (;;) {
    const uploadId = await retrying(() => client.findUploadId(bucket, key));
    if (uploadId === undefined) return;
    await retrying(() => client.abortMultipartUpload(bucket, key, uploadId));
  }
}

/**
 * Uploads a stream part by part. The library's own streaming put is not used, because it buffers 525 MiB if it does not know the length,
 * and hangs if the source fails.
 */
async function putParts(place: Place, source: Readable, memory: Memory): Promise<void> {
  const { client, bucket, key } = place;
  const blocks = new Blocks(source);
  let uploadId: string | undefined;
  const parts: Part[] = [];
  const putBlock = async (): Promise<boolean> => {
    const block = await blocks.next();
    if (uploadId === undefined) {
      if (block.last) {
        await retrying(() => client.putObject(bucket, key, block.bytes, block.bytes.length));
        return true;
      }
      uploadId = await retrying(() => client.initiateNewMultipartUpload(bucket, key, {}));
    }
    const partConfig = { bucketName: bucket, objectName: key, uploadID: uploadId, partNumber: parts.length + 1, headers: {} };
    const { etag } = await retrying(() => client.uploadPart(partConfig, block.bytes));
    parts.push({ part: partConfig.partNumber, etag });
    return block.last;
  };
  try {
    while (!(await memory.take(source, putBlock)));
    const begun = uploadId;
    if (begun !== undefined) await asking(() => client.completeMultipartUpload(bucket, key, begun, parts));
  } catch (error) {
    const unfinished = uploadId;
    // if the store is away, this would only wait once more; `delete` aborts the upload later, at the latest when the janitor calls it
    if (unfinished !== undefined && !isUnavailable(error))
      await retrying(() => client.abortMultipartUpload(bucket, key, unfinished)).catch(() => {});
    throw error;
  }
}

async function copy(to: Place, from: string, size: number): Promise<void> {
  const { client, bucket, key } = to;
  if (size <= maxSingleCopy) {
    const source = new CopySourceOptions({ Bucket: bucket, Object: from });
    await retrying(() => client.copyObject(source, new CopyDestinationOptions({ Bucket: bucket, Object: key })));
    return;
  }
  const uploadID = await retrying(() => client.initiateNewMultipartUpload(bucket, key, {}));
  try {
    const parts: Part[] = [];
    for (let start = 0; start < size; start += copyPartSize) {
      const range = `bytes=${start}-${Math.min(start + copyPartSize, size) - 1}`;
      const headers = { "x-amz-copy-source": `/${bucket}/${from}`, "x-amz-copy-source-range": range };
      const partConfig = { bucketName: bucket, objectName: key, uploadID, partNumber: parts.length + 1, headers };
      const { etag } = await retrying(() => client.uploadPart(partConfig));
      parts.push({ part: partConfig.partNumber, etag });
    }
    await asking(() => client.completeMultipartUpload(bucket, key, uploadID, parts));
  } catch (error) {
    await retrying(() => client.abortMultipartUpload(bucket, key, uploadID)).catch(() => {});
    throw error;
  }
}

async function openObject({ client, bucket, key }: Place, size: number, range: ByteRange | undefined): Promise<Readable> {
  let source: Readable | undefined;
  try {
    source = await (range === undefined
      ? retrying(() => client.getObject(bucket, key))
      : retrying(() => client.getPartialObject(bucket, key, range.start, range.end - range.start + 1)));
    checkSize(toldSize(source) ?? size, size);
    return source;
  } catch (error) {
    source?.destroy();
    if (isUnavailable(error)) throw error;
    throw new HarrierError("artifactLoadFailed", undefined, { cause: error });
  }
}

/** Returns the size of the whole object without another request: the stream is the store's HTTP answer, whose headers say it. */
function toldSize(answer: Readable): number | undefined {
  const { headers } = answer as IncomingMessage;
  const told = headers["content-range"]?.split("/")[1] ?? headers["content-length"];
  return told === undefined || told === "*" ? undefined : Number(told);
}

async function* listObjects(client: Client, bucket: string): AsyncGenerator<StagedObject> {
  for await (const item of client.listObjectsV2(bucket, stagingPrefix, true)) {
    const { name, lastModified } = item as { name?: string; lastModified?: Date };
    if (name !== undefined) yield { key: name, modifiedAt: lastModified?.getTime() ?? 0 };
  }
}

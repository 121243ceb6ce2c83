import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { Client, CopyDestinationOptions, CopySourceOptions } from "minio";
import { mapFull } from "./reserve.ts";
import { timedTransport } from "./s3-transport.ts";
import { type ByteRange, checkSize, type StagedObject, type Storage, stagingPrefix } from "./storage.ts";

export interface S3Settings {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  /** Silence of the store after which a request has failed; the default fits MinIO and S3, a test wants less. */
  readonly silenceMs?: number;
}

/**
 * The memory that one running upload may take. S3 wants parts of 5 MiB or more and at most 10,000 of them,
 * so this also sets the largest artifact: 80 GB.
 */
const partSize = 8 * 1024 * 1024;

/** S3 copies at most 5 GiB in one request; larger objects are copied in parts of this size. */
const copyPartSize = 1024 ** 3;
const maxSingleCopy = 5 * 1024 ** 3;

const attempts = 3;

interface Part {
  part: number;
  etag: string;
}

function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "NotFound" || code === "NoSuchKey";
}

/** What a store answers that cannot serve now but will; the empty code is that of a 5xx without a body. */
const passing = /^(|SlowDown\w*|ServiceUnavailable|InternalError|UnknownError|XMinioServerNotInitialized)$/;
/** Node's codes of a connection, such as ECONNREFUSED, ETIMEDOUT and EAI_AGAIN; those that begin with ERR_ are of misuse. */
const ofConnection = /^E(?!RR_)[A-Z_]+$/;

/** Any other answer of the store itself carries an S3 code and will not change; a broken connection or a 5xx may. */
function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code !== "string" || passing.test(code) || ofConnection.test(code);
}

/**
 * One request to the store.
 * @throws HarrierError `unavailable` (503, Retry-After) where the store is silent, absent or overloaded; its own errors as they are.
 */
async function asking<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!isTransient(error)) throw error;
    const message = "The object store is not available at the moment.";
    throw new HarrierError("unavailable", message, { cause: error, headers: { "retry-after": "5" } });
  }
}

function isUnavailable(error: unknown): error is HarrierError {
  return error instanceof HarrierError && error.code === "unavailable";
}

/** A request that may be repeated: a store that is away for a moment is not noticed. */
async function retrying<T>(request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await asking(request);
    } catch (error) {
      if (attempt === attempts || !isUnavailable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt));
    }
  }
}

function connect(settings: S3Settings): Client {
  const url = new URL(settings.endpoint);
  return new Client({
    endPoint: url.hostname,
    port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
    useSSL: url.protocol === "https:",
    accessKey: settings.accessKey,
    secretKey: settings.secretKey,
    // the library's own retry writes to the console; ours is above
    retryOptions: { disableRetry: true },
    // and it waits for ever for a store that says nothing
    transport: timedTransport(url.protocol, settings.silenceMs),
  });
}

/** Artifacts in a bucket of MinIO or any S3. Ranges are passed on, so that a part costs only its own bytes. */
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
    async prepare() {
      await retrying(() => createBucket(client, bucket));
    },
    // how much a bucket may still take, S3 does not tell
    checkRoom: async () => {},
    note: async () => undefined,
    async put(key, source) {
      try {
        await putParts({ client, bucket, key }, source);
      } catch (error) {
        source.destroy(error as Error);
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

interface Place {
  readonly client: Client;
  readonly bucket: string;
  readonly key: string;
}

async function createBucket(client: Client, bucket: string): Promise<void> {
  if (await client.bucketExists(bucket)) return;
  try {
    await client.makeBucket(bucket);
  } catch (error) {
    // another replica came first
    if ((error as { code?: string }).code !== "BucketAlreadyOwnedByYou") throw error;
  }
}

/** What a killed process left: its parts are invisible but take space. Several only if an upload id was used twice. */
async function abortUnfinished({ client, bucket, key }: Place): Promise<void> {
  for (;;) {
    const uploadId = await retrying(() => client.findUploadId(bucket, key));
    if (uploadId === undefined) return;
    await retrying(() => client.abortMultipartUpload(bucket, key, uploadId));
  }
}

/**
 * The library's own streaming put buffers 525 MiB when it does not know the length, and hangs when the source fails;
 * hence the parts by hand.
 */
async function putParts(place: Place, source: Readable): Promise<void> {
  const { client, bucket, key } = place;
  let uploadId: string | undefined;
  const parts: Part[] = [];
  try {
    for await (const block of blocks(source)) {
      if (uploadId === undefined) {
        if (block.last) {
          await retrying(() => client.putObject(bucket, key, block.bytes, block.bytes.length));
          return;
        }
        uploadId = await retrying(() => client.initiateNewMultipartUpload(bucket, key, {}));
      }
      const partConfig = { bucketName: bucket, objectName: key, uploadID: uploadId, partNumber: parts.length + 1, headers: {} };
      const { etag } = await retrying(() => client.uploadPart(partConfig, block.bytes));
      parts.push({ part: partConfig.partNumber, etag });
    }
    const begun = uploadId;
    if (begun !== undefined) await asking(() => client.completeMultipartUpload(bucket, key, begun, parts));
  } catch (error) {
    const unfinished = uploadId;
    // a store that is away would only be waited for once more: `delete` ends it, at the latest the janitor's
    if (unfinished !== undefined && !isUnavailable(error))
      await retrying(() => client.abortMultipartUpload(bucket, key, unfinished)).catch(() => {});
    throw error;
  }
}

interface Block {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/** Cuts a stream into blocks of `partSize`; the last one is shorter, and there is always one. */
async function* blocks(source: Readable): AsyncGenerator<Block> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    held.push(chunk);
    length += chunk.length;
    // strictly more, so that the block that ends the stream is known to be the last
    while (length > partSize) {
      const joined = Buffer.concat(held, length);
      yield { bytes: joined.subarray(0, partSize), last: false };
      held = [joined.subarray(partSize)];
      length -= partSize;
    }
  }
  yield { bytes: Buffer.concat(held, length), last: true };
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

/** Size of the whole object, without a request more: the stream is the answer of the store itself, and has its headers. */
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

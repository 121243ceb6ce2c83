import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline as connect, Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { HarrierError } from "@harrier/errors";
import { bytesPassed } from "@harrier/service";
import { readChunk } from "../storage/directory-files.ts";
import type { ByteRange, Storage } from "../storage/storage.ts";
import { contentDisposition } from "./disposition.ts";
import type { HotFile, HotFiles } from "./hot-files.ts";
import { answerRange, matches } from "./range.ts";
import { beginParts, type PartsDeps } from "./send-parts.ts";

export interface SendDeps {
  readonly storage: Pick<Storage, "open" | "stat">;
  readonly hotFiles: Pick<HotFiles, "take">;
  readonly log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** A transfer in which no byte moves for this long is cut; its total duration is not limited. */
  readonly idleMs: number;
  /** Shared by all downloads of this replica. */
  readonly limit: PartsDeps["limit"];
  /** Called with the number of bytes of the artifact as they are sent, also for a download that is cut. */
  readonly sent: (bytes: number) => void;
}

export interface Sendable {
  readonly key: string;
  readonly filename: string;
  readonly size: number;
  readonly sha1: string;
  readonly createdAt: number;
}

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** The differences between the interfaces: management under `/api/mgmt/v1` has a bare ETag, and both dialects have Content-Range on whole answers. */
export interface SendStyle {
  readonly bareEtag: boolean;
  readonly rangeOnWhole: boolean;
  /** Called once before a download of the whole file begins, whose first byte waits for it. It must not reject. */
  readonly onWhole?: () => Promise<void> | undefined;
}

/** Answers a download with the whole file, one range or several (contract device.md §6.2, §6.3). HEAD ignores `Range`. */
export async function sendArtifact(deps: SendDeps, exchange: Exchange, artifact: Sendable, style: SendStyle): Promise<void> {
  const { req } = exchange;
  if (!matches(req.headers["if-match"], artifact.sha1)) throw new HarrierError("preconditionFailed");
  const { size, sha1, createdAt } = artifact;
  const etag = style.bareEtag ? sha1 : `"${sha1}"`;
  const range = req.method === "HEAD" ? undefined : req.headers.range;
  const answer = answerRange({ range, ifRange: ifRangeOf(req), size, etag, lastModified: createdAt });
  if (answer.kind === "unsatisfiable") {
    throw new HarrierError("rangeNotSatisfiable", undefined, { headers: { "content-range": `bytes */${size}` } });
  }
  const headers = headersOf(artifact, etag);
  // what is sent counts, not what was asked for: `If-Range` may have turned a range into the whole file
  const accepted = answer.kind === "whole" ? style.onWhole?.() : undefined;
  if (answer.kind === "parts" && answer.parts.length > 1) {
    const open = async (part: ByteRange): Promise<Readable> => {
      // the callback ignores the error, because the reader of the stream gets it too
      return connect(...(await openStored(deps.storage, artifact, { part })), () => {});
    };
    const openBare = (part: ByteRange): Promise<Readable> => deps.storage.open(artifact.key, size, part);
    const parts = await beginParts({ ...deps, open, openBare }, exchange.res, {
      size,
      headers,
      parts: answer.parts,
    });
    return await cutOnFailure(deps, exchange, [parts]);
  }
  const one = answer.kind === "parts" ? answer.parts[0] : undefined;
  const sent = one ?? { start: 0, end: size - 1 };
  if (one !== undefined || style.rangeOnWhole) headers["content-range"] = `bytes ${sent.start}-${sent.end}/${size}`;
  headers["content-length"] = sent.end - sent.start + 1; // the length comes after content-disposition: see sendMd5sum
  const status = one === undefined ? 200 : 206;
  if (req.method === "HEAD") {
    // HEAD does not promise what a GET could not load
    if ((await deps.storage.stat(artifact.key))?.size !== size) throw new HarrierError("artifactLoadFailed");
    await accepted;
    exchange.res.writeHead(status, headers).end();
    return;
  }
  const source = await openBytes(deps, artifact, { part: sent, sent: deps.sent });
  await accepted; // the object has been opened meanwhile
  const [{ errored }] = source;
  if (errored !== null) throw new HarrierError("artifactLoadFailed", undefined, { cause: errored });
  exchange.res.writeHead(status, headers);
  // all streams share one pipeline, because each pipeline costs an AbortController
  await cutOnFailure(deps, exchange, source);
}

function ifRangeOf(req: IncomingMessage): string | undefined {
  const header = req.headers["if-range"];
  return Array.isArray(header) ? header[0] : header;
}

function headersOf(artifact: Sendable, etag: string): OutgoingHttpHeaders {
  const disposition = contentDisposition(artifact.filename);
  return {
    "content-type": "application/octet-stream",
    "accept-ranges": "bytes",
    etag,
    "last-modified": new Date(artifact.createdAt).toUTCString(),
    "x-content-type-options": "nosniff",
    ...(disposition === undefined ? {} : { "content-disposition": disposition }),
  };
}

interface Wanted {
  readonly part: ByteRange;
  /** Called with the number of bytes read; absent if the reader itself counts what is sent. */
  readonly sent?: SendDeps["sent"];
}

/** The stream of the part's bytes; where they come from the store, with the stream behind it that counts them. */
type Stored = readonly [stored: Readable, counted: Transform];
type Source = Stored | readonly [kept: Readable];

async function openBytes(deps: SendDeps, artifact: Sendable, wanted: Wanted): Promise<Source> {
  const hot = deps.hotFiles.take(artifact.key, artifact.size);
  return hot === undefined ? await openStored(deps.storage, artifact, wanted) : [readHot(hot, wanted)];
}

/** Reads a part of a file in memory, in pieces of which the next one is only sent when the client has taken the one before. */
function readHot({ bytes, release }: HotFile, { part, sent }: Wanted): Readable {
  let at = part.start;
  return new Readable({
    highWaterMark: 0,
    read() {
      const piece = bytes.subarray(at, Math.min(at + readChunk, part.end + 1));
      at += piece.length;
      sent?.(piece.length);
      this.push(piece.length === 0 ? null : piece);
    },
    destroy(error, done) {
      release();
      done(error);
    },
  });
}

/** Opens a part. Its stream fails at the end if bytes are missing: an answer shorter than its length would keep the client waiting for the rest. */
async function openStored(storage: SendDeps["storage"], { key, size }: Sendable, { part, sent }: Wanted): Promise<Stored> {
  let missing = part.end - part.start + 1;
  const whole = missing === size;
  const stored = await storage.open(key, size, whole ? undefined : part);
  stored.on("error", () => {}); // without a listener a failure would end the process before the reader checks for it
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      missing -= chunk.length;
      sent?.(chunk.length);
      bytesPassed(chunk.length);
      done(null, chunk);
    },
    flush: (done) => done(missing === 0 ? null : new Error(`${missing} bytes of the stored object are missing`)),
  });
  return [stored, counted];
}

/** These codes are all that a client leaves that has gone, while its bytes were sent or before the first one. */
const clientGone = new Set<string | undefined>(["ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_UNABLE_TO_PIPE"]);

/** Sends the streams, and cuts the connection on a failure: once the head is sent, the client can only notice that bytes are missing. */
async function cutOnFailure(deps: SendDeps, { res }: Exchange, streams: Source | readonly [Readable]): Promise<void> {
  res.setTimeout(deps.idleMs);
  try {
    await pipeline([...streams, res]);
  } catch (error) {
    // `pipeline` destroys what it has connected; with a client that had gone before, it connects nothing and would leave the file open.
    for (const stream of streams) stream.destroy();
    if (clientGone.has((error as NodeJS.ErrnoException).code)) deps.log.debug({ err: error }, "a download was not finished");
    else deps.log.warn({ err: error }, "a download was cut because its source failed");
  }
}

/** Sends `<md5>  <filename>` without a newline (contract device.md §6.5). */
export function sendMd5sum({ res }: Pick<Exchange, "res">, artifact: { readonly md5: string; readonly filename: string }): void {
  const body = Buffer.from(`${artifact.md5}  ${artifact.filename}`);
  const disposition = contentDisposition(`${artifact.filename}.MD5SUM`);
  res.writeHead(200, {
    "content-type": "text/plain",
    "x-content-type-options": "nosniff",
    ...(disposition === undefined ? {} : { "content-disposition": disposition }),
    // the length must come last: after a length Node takes the disposition for UTF-8 and refuses Latin-1 names
    "content-length": body.length,
  });
  res.end(body);
}

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline as connect, type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { HarrierError } from "@harrier/errors";
import type { ByteRange, Storage } from "../storage/storage.ts";
import { contentDisposition } from "./disposition.ts";
import { answerRange, matches } from "./range.ts";
import { beginParts, type PartsDeps } from "./send-parts.ts";

export interface SendDeps {
  readonly storage: Pick<Storage, "open" | "stat">;
  readonly log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** A transfer may take for ever, but not stand still for longer than this. */
  readonly idleMs: number;
  /** Shared by all downloads of this replica. */
  readonly limit: PartsDeps["limit"];
  /** Told of the bytes of the artifact as they go out, also of those of a download that is cut. */
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

/** What differs between the interfaces: the specification's management line has a bare ETag, and Content-Range on full answers too. */
export interface SendStyle {
  readonly bareEtag: boolean;
  readonly rangeOnWhole: boolean;
  /** Once, when a download of the whole file is about to begin; its first byte waits for it. Must not reject. */
  readonly onWhole?: () => Promise<void> | undefined;
}

/** Answers a download: whole, one range or several (contract device.md §6.2, §6.3). HEAD ignores `Range`. */
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
  // of a range that `If-Range` switched off too: what is sent counts, not what was asked for
  const accepted = answer.kind === "whole" ? style.onWhole?.() : undefined;
  if (answer.kind === "parts" && answer.parts.length > 1) {
    const open = async (part: ByteRange): Promise<Readable> => {
      // its reader hears of an error
      return connect(...(await openBytes(deps.storage, artifact, { part })), () => {});
    };
    const openBare = (part: ByteRange): Promise<Readable> => deps.storage.open(artifact.key, size, part);
    const parts = await beginParts({ ...deps, open, openBare }, exchange.res, {
      size,
      headers,
      parts: answer.parts,
    });
    return await cutOnFailure(deps, exchange, (res) => pipeline(parts, res));
  }
  const one = answer.kind === "parts" ? answer.parts[0] : undefined;
  const sent = one ?? { start: 0, end: size - 1 };
  if (one !== undefined || style.rangeOnWhole) headers["content-range"] = `bytes ${sent.start}-${sent.end}/${size}`;
  headers["content-length"] = sent.end - sent.start + 1; // behind content-disposition: see sendMd5sum
  const status = one === undefined ? 200 : 206;
  if (req.method === "HEAD") {
    // what a GET could not load is not promised either
    if ((await deps.storage.stat(artifact.key))?.size !== size) throw new HarrierError("artifactLoadFailed");
    await accepted;
    exchange.res.writeHead(status, headers).end();
    return;
  }
  const source = await openBytes(deps.storage, artifact, { part: sent, sent: deps.sent });
  await accepted; // meanwhile the object was opened
  const [{ errored }] = source;
  if (errored !== null) throw new HarrierError("artifactLoadFailed", undefined, { cause: errored });
  exchange.res.writeHead(status, headers);
  // one pipeline for all three: each costs an AbortController of its own
  await cutOnFailure(deps, exchange, (res) => pipeline(...source, res));
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
  /** Told of every byte; absent where the reader tells itself which of them go out. */
  readonly sent?: SendDeps["sent"];
}

/** The bytes of the part, and behind them one that counts them. */
type Source = readonly [stored: Readable, counted: Transform];

/** Fails at the end unless the whole part came: an answer that ended short of its length would keep the client waiting for the rest. */
async function openBytes(storage: SendDeps["storage"], { key, size }: Sendable, { part, sent }: Wanted): Promise<Source> {
  let missing = part.end - part.start + 1;
  const whole = missing === size;
  const stored = await storage.open(key, size, whole ? undefined : part);
  stored.on("error", () => {}); // who reads it looks for a failure first; with nobody listening until then the process would end
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      missing -= chunk.length;
      sent?.(chunk.length);
      done(null, chunk);
    },
    flush: (done) => done(missing === 0 ? null : new Error(`${missing} bytes of the stored object are missing`)),
  });
  return [stored, counted];
}

/** Once the head is out, a failure can only cut the connection: the missing bytes tell the client. */
async function cutOnFailure(deps: SendDeps, { res }: Exchange, send: (res: ServerResponse) => Promise<void>): Promise<void> {
  res.setTimeout(deps.idleMs);
  try {
    await send(res);
  } catch (error) {
    // by now both ends are destroyed, whichever was the first; a client that went away has no error of its own
    if ((error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE")
      deps.log.debug({ err: error }, "a download was not finished");
    else deps.log.warn({ err: error }, "a download was cut because its source failed");
  }
}

/** `<md5>  <filename>` without a newline (contract device.md §6.5). */
export function sendMd5sum({ res }: Pick<Exchange, "res">, artifact: { readonly md5: string; readonly filename: string }): void {
  const body = Buffer.from(`${artifact.md5}  ${artifact.filename}`);
  const disposition = contentDisposition(`${artifact.filename}.MD5SUM`);
  res.writeHead(200, {
    "content-type": "text/plain",
    "x-content-type-options": "nosniff",
    ...(disposition === undefined ? {} : { "content-disposition": disposition }),
    // last: behind a length Node takes the disposition for UTF-8 in disguise and refuses Latin-1 names
    "content-length": body.length,
  });
  res.end(body);
}

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { MIMEType } from "node:util";
import { type BodyOf, isArrayBody, maxElements, maxReported, parseWith, type Route } from "@harrier/contracts";
import { HarrierError, violationsInfo } from "@harrier/errors";
import { digestOf } from "@harrier/rpc";
import express from "express";
import { cborType, readCbor } from "./cbor.ts";
import { findBreak, maxSearched, type Position } from "./json-position.ts";
import { cborItems, jsonExcess } from "./members.ts";

/** Real bodies are four levels deep; without a limit one could be as deep as it is long. */
const deepest = 64;

/** Whether a parsed body could come from JSON, nested no deeper than any of ours; CBOR also has byte strings. */
function isPlain(value: unknown, left = deepest): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (left === 0 || ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.every((member) => isPlain(member, left - 1));
  for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], left - 1)) return false;
  return true;
}

/** A request body has at most so many bytes after decompression; nothing of a longer one is kept (contract device.md §8). */
const largestBody = 1024 * 1024;
/** A list may have so many bytes: enough for as many elements as a request may have, with names and ids of full length. */
const largestList = 8 * 1024 * 1024;

/**
 * Answers the maximum size of a route's body. A compressed list may be no longer than other bodies, because its size is only known here, and the
 * gateway's share of memory counts the compressed bytes.
 */
export function maxBodyBytesOf(route: Pick<Route, "interface" | "body">, headers: IncomingHttpHeaders): number {
  return kindOf(route) === "list" && !isCompressed(headers) ? largestList : largestBody;
}

interface Read {
  readonly req: express.Request;
  readonly res: express.Response;
  /** The digest of the body that the gateway has signed. */
  readonly digest: string | undefined;
  /** It gets a valid body with all members that its sender has put into it. */
  readonly accepted?: ((body: unknown) => void) | undefined;
  /** Makes the error for a body with another digest. */
  readonly refuse: () => HarrierError;
}

/** The state of a request while its body is read; the parser's hook only gets the request. */
const reads = new WeakMap<object, Read>();

const limits = {
  limit: largestBody as number,
  type: () => true, // the media type is checked before, by the interface's own rules
  verify: (req: object, _res: object, bytes: Buffer) => checkDigest(req, bytes),
} as const;

/**
 * Refuses bytes that the parser would accept: it reads no text as {}, and replaces what is no character. Other charsets are handled by `readerOf`.
 */
function refuseUnreadable(bytes: Buffer, charset: string): void {
  if (charset !== "utf-8") throw new HarrierError("unsupportedMediaType");
  if (bytes.length === 0) throw unreadable("is empty");
  if (!isUtf8(bytes)) throw unreadable("is not in UTF-8");
}

/** Reads JSON, which is refused before it is parsed if it has more members than a body of its route may have. */
function jsonReader(checkMembers: (utf8: Uint8Array) => void, limit = largestBody): express.Handler {
  return express.json({
    ...limits,
    limit,
    verify: (req, _res, bytes, charset) => {
      checkDigest(req, bytes);
      refuseUnreadable(bytes, charset);
      checkMembers(bytes);
    },
  });
}

const readBytes = express.raw(limits);

/** Reads text in any UTF, by its byte order mark if the charset does not say which. */
const readText = express.text(limits);

/** A device's body may have so many members and elements at all levels: twice the maximum of its lists and maps (contracts, device/feedback.ts). */
const maxDeviceMembers = 2 * maxReported;

/**
 * A body of the management interface may have so many members. An object: twenty for each element of its longest possible list. A list: as many as
 * 1 MiB has room for if each has the eight bytes of the shortest member with its name; a longer list has longer members, not more of them.
 */
const maxObjectMembers = 20 * maxElements;
const maxListMembers = largestBody / 8;

type MemberCheck = (utf8: Uint8Array) => void;

function atMost(max: number, refuse: () => HarrierError): MemberCheck {
  return (utf8) => {
    const excess = utf8.length > max ? jsonExcess(utf8, max) : undefined;
    if (excess === "containers") throw unreadable("has too many lists and objects");
    if (excess === "members") throw refuse();
  };
}

function tooManyMembers(): HarrierError {
  return new HarrierError("quotaTooManyEntries", `Quota exceeded: a request holds ${maxReported} entries at most.`);
}

const checks = {
  device: atMost(maxDeviceMembers, tooManyMembers),
  list: atMost(
    maxListMembers,
    () => new HarrierError("quotaTooManyEntries", `Quota exceeded: a request holds ${maxListMembers} members at most.`),
  ),
  object: atMost(maxObjectMembers, () => new HarrierError("constraintViolation", `request must have at most ${maxObjectMembers} members.`)),
};
const jsonReaders = { device: jsonReader(checks.device), list: jsonReader(checks.list), object: jsonReader(checks.object) };
const readLongList = jsonReader(checks.list, largestList);

function kindOf(route: Pick<Route, "interface" | "body">): keyof typeof checks {
  if (route.interface === "device") return "device";
  return route.body !== undefined && isArrayBody(route.body) ? "list" : "object";
}

/** Checks the digest before the body is parsed; the signature covers the bytes as they were sent, and a compressed body is inflated here. */
function checkDigest(req: object, bytes: Buffer): void {
  const read = reads.get(req);
  if (read === undefined || isCompressed(read.req.headers)) return;
  const digest = bytes.length === 0 ? undefined : digestOf(bytes);
  if (digest !== read.digest) throw read.refuse();
}

function isCompressed(headers: IncomingHttpHeaders): boolean {
  const coding = headers["content-encoding"];
  return coding !== undefined && coding.toLowerCase() !== "identity";
}

/** The media types of request bodies; devices may not send HAL, and users no CBOR (contract device.md §1.1, management.md §1.1). */
const accepted = {
  device: new Set(["application/json", cborType]),
  management: new Set(["application/json", "application/hal+json"]),
};

/** The media types of bodies that their handlers read. */
const streamedTypes = { csv: "text/csv", binary: "application/octet-stream" } as const;

/** Reads and checks the body of a route: 415 for another type, 413 above `maxBodyBytesOf`, 400 when missing, broken, too deep or wrong. */
export async function parseBody<R extends Route>(route: R, from: Read): Promise<BodyOf<R>> {
  const schema = route.body;
  const { req } = from;
  if (schema === undefined || route.bodyKind === "multipart") return undefined as BodyOf<R>;
  if (route.bodyKind === "csv" || route.bodyKind === "binary") {
    if (mediaType(req.headers["content-type"]) !== streamedTypes[route.bodyKind]) throw new HarrierError("unsupportedMediaType");
    return undefined as BodyOf<R>;
  }
  if (!hasBody(req)) {
    if (route.bodyKind !== "optional-json") throw unreadable("is missing");
    return schema.safeParse(undefined).data as BodyOf<R>;
  }
  const type = mediaType(req.headers["content-type"]);
  if (!accepted[route.interface].has(type)) throw new HarrierError("unsupportedMediaType");
  const { read, decode } = type === cborType ? cbor : readerOf(route, req.headers);
  await readAll(read, from);
  const body = decode === undefined ? req.body : decoded(decode, req.body);
  if (!isPlain(body)) throw unreadable("is nested too deeply, or holds what JSON cannot say");
  const parsed = parseWith(schema, body, "body") as BodyOf<R>;
  from.accepted?.(body);
  return parsed;
}

/**
 * Checks the size of a CBOR body. A name and its value are two items; the containers are limited too, because no report has more of them than
 * members.
 */
function checkCbor(bytes: Buffer): void {
  const max = 2 * maxDeviceMembers;
  const { containers, others } = cborItems(bytes, max);
  if (containers > max) throw unreadable("has too many lists and objects");
  if (others > max) throw tooManyMembers();
}

async function readAll(read: express.Handler, from: Read): Promise<void> {
  const { req, res, digest, refuse } = from;
  reads.set(req, from);
  const sent = isCompressed(req.headers) ? createHash("sha256") : undefined;
  if (sent !== undefined) req.on("data", (bytes: Buffer) => sent.update(bytes));
  await new Promise<void>((resolve, reject) => {
    read(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(readError(error))));
  });
  if (sent !== undefined && sent.digest("base64url") !== digest) throw refuse();
}

/** How a body is read, and how a value is made of it if the reader does not do that. */
interface Reader {
  readonly read: express.Handler;
  /** It gets the bytes or the text that `read` leaves. */
  readonly decode?: (body: never) => unknown;
}

const cbor: Reader = {
  read: readBytes,
  decode: (bytes: Buffer) => {
    checkCbor(bytes);
    return readCbor(bytes);
  },
};

/**
 * Answers the reader of a body: the usual one for JSON in UTF-8, and one that decodes the text for any other named charset (contract device.md
 * §1.1).
 */
function readerOf(route: Pick<Route, "interface" | "body">, headers: IncomingHttpHeaders): Reader {
  const kind = kindOf(route);
  const contentType = headers["content-type"] ?? "application/json";
  const charset = new MIMEType(contentType).params.get("charset")?.toLowerCase() ?? "utf-8";
  if (charset === "utf-8") return { read: maxBodyBytesOf(route, headers) > largestBody ? readLongList : jsonReaders[kind] };
  const parse = (text: string): unknown => {
    // members are counted in the decoded text, because commas and quotes differ in the bytes of another charset
    checks[kind](Buffer.from(text));
    return parseText(text);
  };
  if (charset.startsWith("utf-")) return { read: readText, decode: parse };
  try {
    const decoder = new TextDecoder(charset, { fatal: true });
    return { read: readBytes, decode: (bytes: Buffer) => parse(decoder.decode(bytes)) };
  } catch (error) {
    throw new HarrierError("unsupportedMediaType", undefined, { cause: error });
  }
}

function decoded(decode: (body: never) => unknown, body: unknown): unknown {
  try {
    return decode(body as never);
  } catch (error) {
    if (error instanceof HarrierError) throw error;
    throw unreadable("cannot be decoded", error);
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(text, error);
  }
}

/** Whether a request has a body at all (RFC 9112 §6.3). */
export function hasBody(req: express.Request): boolean {
  if (req.headers["transfer-encoding"] !== undefined) return true;
  const length = req.headers["content-length"];
  return length !== undefined && length !== "0";
}

function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function readError(error: unknown): HarrierError {
  const status = (error as { status?: unknown }).status;
  if (error instanceof HarrierError) return error;
  if (status === 413) return new HarrierError("payloadTooLarge");
  if (status === 415) return new HarrierError("unsupportedMediaType");
  // the parser's error contains the text with all its secrets, and causes are logged, so it is removed
  const text: unknown = (error as { body?: unknown }).body;
  if (error instanceof Error) Reflect.deleteProperty(error, "body");
  return typeof text === "string" ? broken(text, error) : unreadable("cannot be read", error);
}

/** Makes the error for a body that cannot be read as a whole; its message is fixed, because clients compare it (contract device.md §10.2). */
function unreadable(problem: string, cause?: unknown, position?: Position): HarrierError {
  const info = violationsInfo([{ path: "", problem, ...position }]);
  return new HarrierError("bodyNotReadable", undefined, { info, cause });
}

/** Makes the error for a text that is no JSON, or that is neither an object nor a list: it says where the text is wrong, but never what is there. */
function broken(text: string, cause: unknown): HarrierError {
  const position = findBreak(text);
  if (position !== undefined) return unreadable(`is no JSON from line ${position.line}, column ${position.column} on`, cause, position);
  return unreadable(text.length > maxSearched ? "is no JSON, somewhere behind its first MiB" : "must be an object or a list", cause);
}

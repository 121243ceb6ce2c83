import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { MIMEType } from "node:util";
import type { BodyOf, Route } from "@harrier/contracts";
import { isArrayBody, mostElements, mostReported, parseWith } from "@harrier/contracts";
import { HarrierError, violationsInfo } from "@harrier/errors";
import { digestOf } from "@harrier/rpc";
import express from "express";
import { cborType, readCbor } from "./cbor.ts";
import { findBreak, mostSearched, type Position } from "./json-position.ts";
import { cborItems, jsonExcess } from "./members.ts";
import { isPlain } from "./plain.ts";

/** Bytes of a request body, inflated; nothing of a longer one is kept (contract device.md §8). */
const largestBody = 1024 * 1024;
/** The same of a list: room for as many elements as a request may have, with names and ids of full length. */
const largestList = 8 * 1024 * 1024;

/**
 * Bytes of the largest body that a route takes. A compressed list may be no longer than other bodies are: what is read of it is counted where it is
 * inflated, and not by whose share of the gateway's memory it takes.
 */
export function largestBodyOf(route: Pick<Route, "interface" | "body">, headers: IncomingHttpHeaders): number {
  return kindOf(route) === "list" && !isCompressed(headers) ? largestList : largestBody;
}

interface Read {
  readonly req: express.Request;
  readonly res: express.Response;
  /** Digest of the body that the gateway has signed. */
  readonly digest: string | undefined;
  /** Gets a body that is as the route wants it, with all that its sender has put into it. */
  readonly accepted?: ((body: unknown) => void) | undefined;
  /** Makes the error for a body of another digest. */
  readonly refuse: () => HarrierError;
}

/** Kept beside the request while its body is read: the parser's hook gets nothing but the request. */
const reads = new WeakMap<object, Read>();

const limits = {
  limit: largestBody as number,
  type: () => true, // the media type is checked before, with the interface's own rules
  verify: (req: object, _res: object, bytes: Buffer) => checkDigest(req, bytes),
} as const;

/** The parser would take no text for {}, and keep what is no character as a replacement for one. Other charsets go another way (`readerOf`). */
function refuseUnreadable(bytes: Buffer, charset: string): void {
  if (charset !== "utf-8") throw new HarrierError("unsupportedMediaType");
  if (bytes.length === 0) throw unreadable("is empty");
  if (!isUtf8(bytes)) throw unreadable("is not in UTF-8");
}

/** JSON, refused before it is parsed where it holds more members than a body of its route may. */
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

/** Text in any of the UTFs, by its mark of the byte order where the charset leaves that open. */
const readText = express.text(limits);

/** Members and elements of a device's body at all levels: twice what the longest of its lists and maps may hold (contracts, device/feedback.ts). */
const mostDeviceMembers = 2 * mostReported;

/**
 * Of a body of the management interface. An object's: twenty for each element of the longest list that it may have. A list's: as many as 1 MiB has
 * room for where each has the eight bytes that the shortest one takes with its name; a longer list has longer members, not more of them.
 */
const mostObjectMembers = 20 * mostElements;
const mostListMembers = largestBody / 8;

type MemberCheck = (utf8: Uint8Array) => void;

function atMost(most: number, refuse: () => HarrierError): MemberCheck {
  return (utf8) => {
    const excess = utf8.length > most ? jsonExcess(utf8, most) : undefined;
    if (excess === "containers") throw unreadable("has too many lists and objects");
    if (excess === "members") throw refuse();
  };
}

function tooManyMembers(): HarrierError {
  return new HarrierError("quotaTooManyEntries", `Quota exceeded: a request holds ${mostReported} entries at most.`);
}

const checks = {
  device: atMost(mostDeviceMembers, tooManyMembers),
  list: atMost(
    mostListMembers,
    () => new HarrierError("quotaTooManyEntries", `Quota exceeded: a request holds ${mostListMembers} members at most.`),
  ),
  object: atMost(
    mostObjectMembers,
    () => new HarrierError("constraintViolation", `request must have at most ${mostObjectMembers} members.`),
  ),
};
const jsonReaders = { device: jsonReader(checks.device), list: jsonReader(checks.list), object: jsonReader(checks.object) };
const readLongList = jsonReader(checks.list, largestList);

function kindOf(route: Pick<Route, "interface" | "body">): keyof typeof checks {
  if (route.interface === "device") return "device";
  return route.body !== undefined && isArrayBody(route.body) ? "list" : "object";
}

/** Before a byte of it is believed; a compressed body is inflated here, and what was signed is what was sent. */
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

/** Media types of request bodies; devices may not send HAL, people no CBOR (contract device.md §1.1, management.md §1.1). */
const accepted = {
  device: new Set(["application/json", cborType]),
  management: new Set(["application/json", "application/hal+json"]),
};

/** Reads and checks the body of a route: 415 for another type, 413 above `largestBodyOf`, 400 when missing, broken, too deep or wrong. */
export async function parseBody<R extends Route>(route: R, from: Read): Promise<BodyOf<R>> {
  const schema = route.body;
  const { req } = from;
  if (schema === undefined || route.bodyKind === "multipart") return undefined as BodyOf<R>;
  if (route.bodyKind === "csv") {
    if (mediaType(req.headers["content-type"]) !== "text/csv") throw new HarrierError("unsupportedMediaType");
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

/** A name and its value are two items; and nothing that a device says is made of more lists and maps than of what they hold. */
function checkCbor(bytes: Buffer): void {
  const most = 2 * mostDeviceMembers;
  const { containers, others } = cborItems(bytes, most);
  if (containers > most) throw unreadable("has too many lists and objects");
  if (others > most) throw tooManyMembers();
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

/** How a body is read, and what makes a value of it where the reader does not. */
interface Reader {
  readonly read: express.Handler;
  /** Gets the bytes or the text that `read` leaves. */
  readonly decode?: (body: never) => unknown;
}

const cbor: Reader = {
  read: readBytes,
  decode: (bytes: Buffer) => {
    checkCbor(bytes);
    return readCbor(bytes);
  },
};

/** JSON in UTF-8 by the usual reader, in any other charset that has a name as decoded text (contract device.md §1.1). */
function readerOf(route: Pick<Route, "interface" | "body">, headers: IncomingHttpHeaders): Reader {
  const kind = kindOf(route);
  const contentType = headers["content-type"] ?? "application/json";
  const charset = new MIMEType(contentType).params.get("charset")?.toLowerCase() ?? "utf-8";
  if (charset === "utf-8") return { read: largestBodyOf(route, headers) > largestBody ? readLongList : jsonReaders[kind] };
  const parse = (text: string): unknown => {
    // of the text: in the bytes of another charset commas and quotes look otherwise
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

/** True when a request has a body at all (RFC 9112 §6.3). */
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
  // the parser's error has the text that it could not read, with whatever secrets are in it; causes are logged
  const text: unknown = (error as { body?: unknown }).body;
  if (error instanceof Error) Reflect.deleteProperty(error, "body");
  return typeof text === "string" ? broken(text, error) : unreadable("cannot be read", error);
}

/** A body as a whole that cannot be read; the message is fixed, as clients compare it (contract device.md §10.2). */
function unreadable(problem: string, cause?: unknown, position?: Position): HarrierError {
  const info = violationsInfo([{ path: "", problem, ...position }]);
  return new HarrierError("bodyNotReadable", undefined, { info, cause });
}

/** A text that is no JSON, or JSON that is neither an object nor a list: where it goes wrong, and never what stands there. */
function broken(text: string, cause: unknown): HarrierError {
  const position = findBreak(text);
  if (position !== undefined) return unreadable(`is no JSON from line ${position.line}, column ${position.column} on`, cause, position);
  return unreadable(text.length > mostSearched ? "is no JSON, somewhere behind its first MiB" : "must be an object or a list", cause);
}

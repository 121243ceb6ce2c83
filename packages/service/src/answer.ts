import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { codes, errorBody, type HarrierError, httpStatus, type Surface } from "@harrier/errors";
import { cborOf, cborType } from "./cbor.ts";
import { entityTagOf } from "./entity-tag.ts";
import { fallbackJson, negotiate } from "./negotiate.ts";

/** A handler answers this; without it the request gets the route's success status with an empty body. */
export interface Reply {
  /** The default is the route's success status on the surface of the request. */
  status?: number;
  /** It is sent as JSON, or in the type that the client asked for; text and buffers are sent unchanged if `headers` has a content-type. */
  body?: unknown;
  /** A body that is JSON text already (a cached document). */
  json?: string;
  headers?: Record<string, string>;
  /** The revision of the row that is shown, if changes of it take `If-Match`. */
  revision?: number;
}

export interface AnswerShape {
  readonly status: number;
  /** The negotiated media type of a JSON body: JSON in one of its two names, or CBOR. */
  readonly type: string;
  readonly etag: boolean;
  readonly noStore: boolean;
}

/** Writes a reply with its exact length, because Zephyr drops a body whose length header is missing or wrong (contract device.md §1.3). */
export function sendReply(req: IncomingMessage, res: ServerResponse, reply: Reply, shape: AnswerShape): number {
  const status = shape.status;
  if (status === 204) return sendEmpty(res, status, reply.headers);
  const text = shape.type === cborType ? bodyCbor(reply) : (reply.json ?? bodyText(reply));
  if (text === undefined) return sendEmpty(res, status, reply.headers);
  const headers: OutgoingHttpHeaders = { "content-type": shape.type, "content-length": Buffer.byteLength(text) };
  if (shape.noStore) headers["cache-control"] = "no-store";
  if (shape.etag && status < 300) {
    const etag = entityTagOf(text, reply.revision);
    headers["etag"] = etag;
    const known = req.headers["if-none-match"];
    if (known !== undefined && matches(known, etag)) {
      res.writeHead(304, { etag });
      res.end();
      return 304;
    }
  }
  if (reply.headers !== undefined) Object.assign(headers, reply.headers);
  res.writeHead(status, headers);
  res.end(text);
  return status;
}

function bodyText(reply: Reply): string | Buffer | undefined {
  const { body } = reply;
  if (body === undefined) return undefined;
  if (reply.headers !== undefined && "content-type" in reply.headers && (typeof body === "string" || Buffer.isBuffer(body))) return body;
  return JSON.stringify(body);
}

/** Encodes the body from its JSON text, so that both encodings have the same content. */
function bodyCbor(reply: Reply): string | Buffer | undefined {
  const text = reply.json ?? bodyText(reply);
  return typeof text === "string" && reply.headers?.["content-type"] === undefined ? cborOf(text) : text;
}

function sendEmpty(res: ServerResponse, status: number, headers: Record<string, string> | undefined): number {
  // a 204 has no length (RFC 9110 §8.6)
  res.writeHead(status, status === 204 ? headers : { "content-length": 0, ...headers });
  res.end();
  return status;
}

/** Evaluates `If-None-Match`: a list, in which a weak prefix is tolerated; `*` names no content and is ignored (contract device.md §1.3). */
function matches(header: string, etag: string): boolean {
  if (header === etag) return true;
  return header.split(",").some((part) => {
    const tag = part.trim();
    return tag === etag || (tag.startsWith("W/") && tag.slice(2) === etag);
  });
}

/** Maps every error to HTTP (architecture §3): the status by surface, the body by the error table. */
export function sendError(req: IncomingMessage, res: ServerResponse, error: HarrierError, surface: Surface): number {
  const status = httpStatus(error.code, surface);
  // a part of the answer has been sent, so only a broken connection tells the client that it failed
  if (res.headersSent) {
    res.destroy();
    return status;
  }
  const body = errorBody(error, surface);
  const headers = error.code === "identityRefused" ? { ...error.headers, "retry-after": "5" } : error.headers;
  if (body !== undefined && error.code === "internal") body.message = codes.internal.message;
  if (body === undefined) return sendEmpty(res, status, headers);
  const type = negotiate(req.headers.accept, surface) ?? fallbackJson;
  const json = JSON.stringify(body);
  const text = type === cborType ? cborOf(json) : json;
  res.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  res.end(text);
  return status;
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { type ConsoleFile, type ConsoleFiles, etagOf } from "./console-files.ts";

/** Nothing comes from elsewhere, no script is inline, and no page may frame the console. The one Trusted Types policy starts the worker that hashes. */
const documentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types harrier-worker",
].join("; ");

/** A worker has the policy of its own response: only this one may compile WebAssembly. */
const workerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";
const isWorker = (path: string): boolean => /^assets\/[^/]*worker[^/]*\.js$/i.test(path);

/** These headers are on every answer below `/console/`. */
const headers: readonly (readonly [string, string])[] = [
  ["content-security-policy", documentPolicy],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["permissions-policy", "camera=(), microphone=(), geolocation=()"],
];

/** Writes the security headers of the console. */
export function secure(res: ServerResponse): void {
  for (const [name, value] of headers) res.setHeader(name, value);
}

interface Requested {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The path below `/console/`, as it was sent. */
  readonly path: string;
  /** The path prefix of the address that the client called; empty without one. */
  readonly prefix: string;
}

/**
 * Answers a GET or HEAD of the console: a file of the build, which browsers keep for a year because its name has its hash; 404 for an unknown one of
 * `assets/`; for everything else the document, which asks again each time (304) so that a new release is there at the next visit.
 */
export function createServeFiles({ index, files }: ConsoleFiles): (requested: Requested) => void {
  return ({ req, res, path, prefix }) => {
    const file = files.get(path);
    if (file !== undefined) return sendFile(req, res, path, file);
    if (path.startsWith("assets/")) return sendNone(res);
    const body = Buffer.from(withBase(index, `${prefix}/console/`));
    res.setHeader("cache-control", "no-cache");
    send(req, res, { type: "text/html; charset=utf-8", body, etag: etagOf(body) });
  };
}

function sendFile(req: IncomingMessage, res: ServerResponse, path: string, file: ConsoleFile): void {
  const hashed = path.startsWith("assets/");
  res.setHeader("cache-control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
  if (isWorker(path)) res.setHeader("content-security-policy", workerPolicy);
  const { br, gzip } = file;
  if (br !== undefined || gzip !== undefined) res.setHeader("vary", "accept-encoding");
  const accepted = req.headers["accept-encoding"];
  if (br !== undefined && accepts(accepted, "br")) send(req, res, { ...file, body: br, encoding: "br" });
  else if (gzip !== undefined && accepts(accepted, "gzip")) send(req, res, { ...file, body: gzip, encoding: "gzip" });
  else send(req, res, file);
}

interface Content {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  readonly encoding?: string;
}

function send(req: IncomingMessage, res: ServerResponse, { type, body, etag, encoding }: Content): void {
  // Two encodings are two representations, and each has its own tag (RFC 9110 §8.8.3).
  const tag = encoding === undefined ? etag : `${etag.slice(0, -1)}-${encoding}"`;
  res.setHeader("etag", tag);
  if (matches(req.headers["if-none-match"], tag)) return void res.writeHead(304).end();
  if (encoding !== undefined) res.setHeader("content-encoding", encoding);
  res.writeHead(200, { "content-type": type, "content-length": body.length });
  res.end(req.method === "HEAD" ? undefined : body);
}

function sendNone(res: ServerResponse): void {
  res.writeHead(404, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" }).end("not found\n");
}

/** Says whether Accept-Encoding names the coding without a weight of 0 (RFC 9110 §12.5.3). */
function accepts(header: string | string[] | undefined, coding: string): boolean {
  return String(header ?? "")
    .toLowerCase()
    .split(",")
    .some((part) => {
      const [name = "", ...parameters] = part.split(";").map((word) => word.trim());
      return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}

function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag || one.trim() === "*");
}

const base = /<base\s[^>]*>/i;
const special: Readonly<Record<string, string>> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

/** Writes where the console is into its document, so that its relative addresses hold at every depth and behind every prefix. */
function withBase(index: string, href: string): string {
  const element = `<base href="${href.replaceAll(/[&"<>]/g, (character) => special[character] ?? "")}">`;
  return base.test(index) ? index.replace(base, () => element) : index.replace(/<head(\s[^>]*)?>/i, (head) => head + element);
}

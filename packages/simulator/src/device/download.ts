import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { backOff, describe, type Http, type RetryPolicy } from "../http.ts";

export interface WantedFile {
  readonly url: string;
  readonly size: number;
  /** Each of them is checked, also one that is undefined: what has to be promised must be named. */
  readonly hashes: Readonly<Record<string, string | undefined>>;
}

export interface DownloadOptions {
  readonly http: Http;
  readonly headers: Record<string, string>;
  /** With 1 it is one request without a range. */
  readonly pieces: number;
  readonly retryPolicy: RetryPolicy;
  readonly onBytes: (count: number) => void;
}

/** The server says that this device must not have the file (any more). */
export class DownloadRefused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`download refused with ${status}`);
    this.status = status;
  }
}

/** The bytes or the headers are not what was promised. */
export class DownloadWrong extends Error {}

/** Fetches a file in pieces, continues where a piece broke off, and checks all its hashes. */
export async function download(file: WantedFile, options: DownloadOptions): Promise<void> {
  const hashers = Object.keys(file.hashes).map((name) => [name, createHash(name)] as const);
  let offset = 0;
  const take = (chunk: Buffer): void => {
    offset += chunk.length;
    if (offset > file.size) throw new DownloadWrong(`more than ${file.size} bytes came`);
    for (const [, hasher] of hashers) hasher.update(chunk);
    options.onBytes(chunk.length);
  };
  const piece = Math.ceil(file.size / options.pieces);
  let until = Date.now() + options.retryPolicy.ms;
  for (let tries = 0; offset < file.size; ) {
    const before = offset;
    const end = Math.min((Math.floor(offset / piece) + 1) * piece, file.size) - 1;
    const reason = await fetchPart(file, options, { start: offset, end }, take);
    if (offset > before) {
      tries = 0;
      until = Date.now() + options.retryPolicy.ms;
    }
    if (reason === undefined) continue;
    if (Date.now() >= until) throw new Error(`download stopped: ${reason}`);
    options.retryPolicy.onRetry?.(reason);
    await sleep(backOff(tries), undefined, { signal: options.retryPolicy.signal });
    tries += 1;
  }
  for (const [name, hasher] of hashers) {
    const found = hasher.digest("hex");
    if (found !== file.hashes[name]) throw new DownloadWrong(`${name} is ${found}, promised was ${file.hashes[name]}`);
  }
}

/** Sends one request; returns why it has to be repeated, if it has. */
async function fetchPart(
  file: WantedFile,
  options: DownloadOptions,
  part: { readonly start: number; readonly end: number },
  take: (chunk: Buffer) => void,
): Promise<string | undefined> {
  const whole = options.pieces === 1 && part.start === 0;
  const headers = whole ? options.headers : { ...options.headers, range: `bytes=${part.start}-${part.end}` };
  const wanted = whole ? 200 : 206;
  try {
    const refused = await options.http.stream(file.url, { headers }, take, ({ status, headers: got }) => {
      if (status !== wanted) return false;
      const range = `bytes ${part.start}-${part.end}/${file.size}`;
      if (!whole && got["content-range"] !== range) throw new DownloadWrong(`Content-Range is ${got["content-range"]}, not ${range}`);
      return true;
    });
    if (refused === undefined) return undefined;
    if (refused.status >= 500 || refused.status === 429) return `status ${refused.status}`;
    throw refused.status >= 400 ? new DownloadRefused(refused.status) : new DownloadWrong(`status ${refused.status} instead of ${wanted}`);
  } catch (error) {
    if (error instanceof DownloadWrong || error instanceof DownloadRefused || options.retryPolicy.signal.aborted) throw error;
    return describe(error);
  }
}

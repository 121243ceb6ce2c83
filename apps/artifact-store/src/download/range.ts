import type { ByteRange } from "../storage/storage.ts";

export type RangeAnswer =
  | { readonly kind: "whole" }
  | { readonly kind: "parts"; readonly parts: readonly ByteRange[] }
  | { readonly kind: "unsatisfiable" };

export interface RangeRequest {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: number;
}

const whole: RangeAnswer = { kind: "whole" };
const unsatisfiable: RangeAnswer = { kind: "unsatisfiable" };
const shape = /^bytes=\d*-\d*(?:,\d*-\d*)*$/;
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** SWUpdate's delta updates ask for up to 150 ranges at once. Near parts are read together, and each part costs about 100 bytes of header. */
export const maxParts = 512;

/** Decides what a download answers to `Range` and `If-Range` (contract device.md §6.3). */
export function answerRange(request: RangeRequest): RangeAnswer {
  if (request.range === undefined) return whole;
  // a malformed Range is refused even if If-Range would make it irrelevant, as in hawkBit
  if (!shape.test(request.range)) return unsatisfiable;
  if (request.ifRange !== undefined && !isUnchanged(request.ifRange, request)) return whole;
  return parseParts(request.range.slice("bytes=".length).split(","), request.size);
}

function parseParts(items: readonly string[], size: number): RangeAnswer {
  if (items.length > maxParts) return unsatisfiable;
  const parts: ByteRange[] = [];
  for (const item of items) {
    const part = parsePart(item, size);
    if (part === undefined) return unsatisfiable;
    parts.push(part);
  }
  parts.sort((a, b) => a.start - b.start);
  const overlap = parts.some((part, i) => i > 0 && part.start <= (parts[i - 1] as ByteRange).end);
  return overlap ? unsatisfiable : { kind: "parts", parts };
}

/** Parses one range. Number() is inexact beyond 2^53, but the result is still larger than any size, which is enough here. */
function parsePart(item: string, size: number): ByteRange | undefined {
  const [from, to] = item.split("-") as [string, string];
  if (from === "") {
    // a suffix that is longer than the file means the whole file (RFC 9110)
    const length = to === "" ? 0 : Number(to);
    return length === 0 || size === 0 ? undefined : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(from);
  const end = to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return start >= size || start > end ? undefined : { start, end };
}

function isUnchanged(ifRange: string, of: { readonly etag: string; readonly lastModified: number }): boolean {
  if (ifRange === of.etag) return true;
  if (!httpDate.test(ifRange)) return false;
  // seconds are compared, because the Last-Modified that the client sends back has no milliseconds
  return Math.floor(Date.parse(ifRange) / 1000) >= Math.floor(of.lastModified / 1000);
}

/** Compares the sha1 with `If-Match`: a list with commas of quoted or bare tags, or `*` (§6.2). */
export function matches(ifMatch: string | undefined, sha1: string): boolean {
  if (ifMatch === undefined) return true;
  return ifMatch
    .split(",")
    .map((tag) => tag.trim().replace(/^"(.*)"$/, "$1"))
    .some((tag) => tag === "*" || tag === sha1);
}

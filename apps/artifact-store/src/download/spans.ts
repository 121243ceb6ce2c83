import type { ByteRange } from "../storage/storage.ts";

/** Parts with fewer bytes than this between them are read as one span: discarding these bytes costs less than opening the object again. */
export const nearBytes = 64 * 1024;

/** A range of an object that is read at once, with the parts of the answer that lie in it. */
export interface Span extends ByteRange {
  readonly parts: readonly ByteRange[];
}

/** Combines parts, which must be sorted and without overlap, into as few spans as their distances allow. */
export function spansOf(parts: readonly ByteRange[]): Span[] {
  const spans: { start: number; end: number; parts: ByteRange[] }[] = [];
  for (const part of parts) {
    const last = spans.at(-1);
    if (last !== undefined && part.start - last.end - 1 < nearBytes) {
      last.end = part.end;
      last.parts.push(part);
    } else spans.push({ ...part, parts: [part] });
  }
  return spans;
}

/** A piece of the object that belongs to the answer; `begins` is the part that starts with it. */
export interface Piece {
  readonly bytes: Buffer;
  readonly begins?: ByteRange;
}

/** Cuts the bytes of a span into those of its parts, and discards what lies between them. */
export async function* piecesOf(span: Span, source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Piece> {
  let at = span.start;
  let place = 0;
  for await (const chunk of source) {
    const next = at + chunk.length;
    for (let part = span.parts[place]; part !== undefined && part.start < next; part = span.parts[place]) {
      const bytes = chunk.subarray(Math.max(part.start - at, 0), part.end + 1 - at);
      yield part.start >= at ? { bytes, begins: part } : { bytes };
      if (part.end >= next) break; // the next chunk has the rest of this part
      place += 1;
    }
    at = next;
  }
}

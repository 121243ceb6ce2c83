import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import type { LimitFunction } from "p-limit";
import type { ByteRange } from "../storage/storage.ts";
import { readAll } from "./read-all.ts";
import { piecesOf, type Span, spansOf } from "./spans.ts";

// the boundary is in lower case, because SWUpdate's delta handler converts the header to lower case and then looks for that text
const boundary = "this_string_separates_multipart";

/** Spans below this size are read into memory as a whole, within the limit that all downloads share; longer ones are streamed. */
const shortSpan = 64 * 1024;

/**
 * The number of short spans that are read ahead, so that an answer of many parts does not wait for the store before each of them. Together
 * with `shortSpan` it limits the bytes that one answer keeps in memory.
 */
const readsAhead = 3;

export interface PartsDeps {
  /**
   * Limits the concurrency of reads of short spans, for all downloads of this replica together: each read has a connection to the store,
   * and memory that many reads hold for long is garbage that is collected late.
   */
  readonly limit: LimitFunction;
  /** A short read fails after this time; otherwise it would keep a place from other downloads for as long as the store hangs. */
  readonly idleMs: number;
  /** Opens a span of the object. The stream fails at its end if bytes are missing. */
  readonly open: (range: ByteRange) => Promise<Readable>;
  /** Opens a span of the object without that check. */
  readonly openBare: (range: ByteRange) => Promise<Readable>;
  /** Called with the number of bytes of the artifact that go into the answer. */
  readonly sent: (bytes: number) => void;
}

export interface Parts {
  readonly size: number;
  readonly headers: OutgoingHttpHeaders;
  /** The parts are sorted and do not overlap. */
  readonly parts: readonly ByteRange[];
}

/**
 * Writes the head of a `multipart/byteranges` answer (contract device.md §6.3) and returns its body. The first span is opened before the
 * head is written (a short one is even read), so that a missing object still gives an error answer. A destroyed body closes its streams.
 */
export async function beginParts(deps: PartsDeps, res: ServerResponse, { size, headers, parts }: Parts): Promise<Readable> {
  const sources = new Sources(deps, spansOf(parts));
  await sources.openFirst();
  res.writeHead(206, { ...headers, "content-type": `multipart/byteranges; boundary=${boundary}` });
  res.flushHeaders(); // a failure from here on cuts an answer that the client has begun to receive
  return Readable.from(body(deps, sources, size), { objectMode: false }).once("close", () => sources.close());
}

async function* body({ sent }: PartsDeps, sources: Sources, size: number): AsyncGenerator<Buffer> {
  let between = "";
  for await (const [span, source] of sources) {
    for await (const { bytes, begins } of piecesOf(span, source)) {
      if (begins !== undefined) {
        yield Buffer.from(
          `${between}--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${begins.start}-${begins.end}/${size}\r\n\r\n`,
        );
        between = "\r\n";
      }
      sent(bytes.length);
      yield bytes;
    }
  }
  yield Buffer.from(`\r\n--${boundary}--`);
}

type Source = AsyncIterable<Buffer> | Iterable<Buffer>;

/** Reads the spans of the object one after the other. */
class Sources {
  readonly #deps: PartsDeps;
  readonly #spans: readonly Span[];
  /** Spans that are open or being read ahead, by their place in the answer. */
  readonly #begun = new Map<number, Promise<Source>>();
  readonly #streams = new Set<Readable>();
  #closed = false;

  constructor(deps: PartsDeps, spans: readonly Span[]) {
    this.#deps = deps;
    this.#spans = spans;
  }

  async openFirst(): Promise<void> {
    const first = this.#begin(this.#spans[0] as Span);
    this.#begun.set(0, first);
    try {
      await first;
    } catch (error) {
      if (error instanceof HarrierError) throw error;
      throw new HarrierError("artifactLoadFailed", undefined, { cause: error });
    }
  }

  /** Closes all open streams, also those of a body of which nothing was read. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly [Span, Source]> {
    for (const [place, span] of this.#spans.entries()) {
      const source = this.#begun.get(place) ?? this.#begin(span);
      this.#begun.delete(place);
      this.#readAhead(place + 1);
      yield [span, await source];
    }
  }

  #readAhead(from: number): void {
    const { limit } = this.#deps;
    for (let place = from; place < from + readsAhead; place += 1) {
      const span = this.#spans[place];
      if (span === undefined || this.#begun.has(place) || !isShort(span)) continue;
      // reading ahead never takes a place that the span which is sent now may need
      if (limit.pendingCount > 0 || limit.activeCount >= limit.concurrency) return;
      const reading = this.#begin(span);
      reading.catch(() => {}); // a failure is reported when this span is sent, if it ever is
      this.#begun.set(place, reading);
    }
  }

  #begin(span: Span): Promise<Source> {
    const { limit, open, openBare, idleMs } = this.#deps;
    if (!isShort(span)) return this.#open(open, span);
    return limit(async () => readAll(await this.#open(openBare, span), { size: span.end - span.start + 1, ms: idleMs }));
  }

  async #open(open: PartsDeps["open"], { start, end }: Span): Promise<Readable> {
    if (this.#closed) throw new Error("the answer has ended");
    const stream = await open({ start, end });
    if (this.#closed) stream.destroy();
    this.#streams.add(stream);
    return stream.once("close", () => this.#streams.delete(stream));
  }
}

const isShort = ({ start, end }: Span): boolean => end - start < shortSpan;

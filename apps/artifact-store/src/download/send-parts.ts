import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ByteRange } from "../storage/storage.ts";
import { piecesOf, type Span, spansOf } from "./spans.ts";

// in lower case: SWUpdate's delta handler reads the header in lower case, and looks for what it has read
const boundary = "this_string_separates_multipart";

/**
 * Short reads that are begun before it is their turn, so that an answer of many parts does not wait for a store's answer before each of
 * them. Both bounds together are the bytes that one answer keeps for it.
 */
const readsAhead = 3;
const shortSpan = 64 * 1024;

/**
 * Counts the reads that all answers together make before their turn: each is a connection to the store and what
 * goes with it. Without a place an answer reads each stretch when its turn comes, so a crowd of answers takes no more than one read each.
 */
export class AheadReads {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** Runs `read` where there is a place for it. */
  tryRun<T>(read: () => Promise<T>): Promise<T> | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return read().finally(() => {
      this.#left += 1;
    });
  }
}

export interface PartsDeps {
  readonly ahead: AheadReads;
  /** Opens a stretch of the object; the stream fails at its end unless all of it came. */
  readonly open: (range: ByteRange) => Promise<Readable>;
  /** Told of the bytes of the artifact that go into the answer. */
  readonly sent: (bytes: number) => void;
}

export interface Parts {
  readonly size: number;
  readonly headers: OutgoingHttpHeaders;
  /** Sorted, without overlap. */
  readonly parts: readonly ByteRange[];
}

/**
 * Writes the head of a `multipart/byteranges` answer (contract device.md §6.3) and returns its body. The first stretch is opened before
 * the head is written, so that a missing object is still a clean error. A body that is destroyed closes what it has open.
 */
export async function beginParts(deps: PartsDeps, res: ServerResponse, { size, headers, parts }: Parts): Promise<Readable> {
  const sources = new Sources(deps, spansOf(parts));
  await sources.openFirst();
  res.writeHead(206, { ...headers, "content-type": `multipart/byteranges; boundary=${boundary}` });
  res.flushHeaders(); // what fails from here on is an answer that was cut, not one that never came
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

/** What is read of the object, one stretch after the other. */
class Sources {
  readonly #open: PartsDeps["open"];
  readonly #ahead: AheadReads;
  readonly #spans: readonly Span[];
  /** Opened or being read before their turn, by place. */
  readonly #begun = new Map<number, Promise<Source>>();
  #first: Readable | undefined;

  constructor({ open, ahead }: PartsDeps, spans: readonly Span[]) {
    this.#open = open;
    this.#ahead = ahead;
    this.#spans = spans;
  }

  async openFirst(): Promise<void> {
    this.#first = await this.#open(this.#spans[0] as Span);
    this.#begun.set(0, Promise.resolve(this.#first));
  }

  /** For a body of which nothing was read: what it would have read first is open already. */
  close(): void {
    this.#first?.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly [Span, Source]> {
    for (const [place, span] of this.#spans.entries()) {
      const source = this.#begun.get(place) ?? this.#open(span);
      this.#begun.delete(place);
      this.#readAhead(place + 1);
      yield [span, await source];
    }
  }

  #readAhead(from: number): void {
    for (let place = from; place < from + readsAhead; place += 1) {
      const span = this.#spans[place];
      if (span === undefined || this.#begun.has(place) || span.end - span.start >= shortSpan) continue;
      const { start, end } = span;
      const reading = this.#ahead.tryRun<Source>(async () => [await buffer(await this.#open({ start, end }))]);
      if (reading === undefined) return;
      reading.catch(() => {}); // heard of when its turn comes, if it comes
      this.#begun.set(place, reading);
    }
  }
}

/** The parts of amqplib's frames that matter here: a header says how many bytes of content follow, a content frame has some of them. */
interface Frame {
  readonly id?: number;
  size?: number;
  content?: Buffer;
}

interface FrameReader {
  accept?: (frame: Frame) => unknown;
}

/** Messages of things have so many bytes at most. */
export const maxMessageBytes = 1024 * 1024;

/** After so many bytes of content what amqplib has read them into is collected. */
const collectEveryBytes = 8 * 1024 * 1024;

/** Node's `gc` of --expose-gc, as far as it is used here. */
type Collect = (options: { type: "minor" }) => void;
const collectYoung = (): void => (globalThis as { gc?: Collect }).gc?.({ type: "minor" });

/**
 * Has a channel of amqplib give messages of more than `maxBytes` with their first `maxBytes + 1` bytes alone, so that a larger one costs no more memory.
 * amqplib has no setting for it, and the broker's own limit is the operator's: this reads the frames before amqplib puts them together. It throws where
 * the channel is not as expected, so that no other version of the library runs without the limit.
 *
 * amqplib copies what it reads up to three times, in buffers outside the heap, which V8 lets grow to more than 100 MiB before it looks: so `collect` is
 * called for each few MiB of content.
 */
export function limitMessages(channel: object, maxBytes: number, collect: () => void = collectYoung): void {
  const reader = channel as FrameReader;
  const { accept } = reader;
  if (typeof accept !== "function") throw new Error("the AMQP library reads frames in another way: messages cannot be limited");
  let toGive = 0;
  let toDrop = 0;
  let uncollected = 0;
  reader.accept = (frame) => {
    if (frame.size !== undefined) {
      toDrop = Math.max(0, frame.size - maxBytes - 1);
      toGive = frame.size - toDrop;
      frame.size = toGive;
    } else if (frame.content !== undefined && (toGive > 0 || toDrop > 0)) {
      const { content } = frame;
      uncollected += content.length;
      if (uncollected >= collectEveryBytes) {
        uncollected = 0;
        collect();
      }
      const given = Math.min(content.length, toGive);
      toGive -= given;
      toDrop -= content.length - given;
      if (given === 0) return undefined;
      if (given < content.length) frame.content = content.subarray(0, given);
    }
    return accept.call(channel, frame);
  };
}

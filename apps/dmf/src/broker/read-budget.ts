/** The parts of amqplib's connection that matter here: how it reads a frame, is told that there is more to read, and notes that the peer is alive. */
interface Reader {
  recvFrame?: () => unknown;
  recvSinceLastCheck?: boolean;
  readonly stream?: { emit(event: "readable"): unknown };
}

/**
 * Messages of a virtual host that are handled at the same time have so many bytes, and one more message. Each costs several times as much while it is on
 * its way to controller.
 */
export const maxBytesAtATime = 4 * 1024 * 1024;

/**
 * Has a connection of amqplib read nothing more while the messages that came by it and are not settled have too many bytes: prefetch counts messages
 * alone, of which a few dozen large ones are more memory than a process has. What is not read waits in the broker. It throws where the connection is not
 * as expected, so that no other version of the library runs without.
 */
export class ReadBudget {
  readonly #reader: Reader;
  readonly #maxBytes: number;
  #bytes = 0;
  #paused = false;
  #over = false;

  constructor(connection: object, maxBytes = maxBytesAtATime) {
    this.#reader = connection as Reader;
    this.#maxBytes = maxBytes;
    const { recvFrame, recvSinceLastCheck, stream } = this.#reader;
    if (typeof recvFrame !== "function" || typeof recvSinceLastCheck !== "boolean" || typeof stream?.emit !== "function")
      throw new Error("the AMQP library reads in another way: it cannot be made to wait");
    this.#reader.recvFrame = () => {
      this.#paused = !this.#over && this.#bytes >= this.#maxBytes;
      return this.#paused ? false : recvFrame.call(connection);
    };
    // who does not read sees no heartbeat either
    let alive = recvSinceLastCheck;
    Object.defineProperty(connection, "recvSinceLastCheck", {
      get: () => this.#paused || alive,
      set: (received: boolean) => {
        alive = received;
      },
    });
  }

  /** A message of so many bytes has come; what is answered is called once, when it is settled. */
  take(bytes: number): () => void {
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
      if (this.#bytes < this.#maxBytes) this.#resume();
    };
  }

  /** Has the rest be read however much it is: the connection ends, which the broker has to confirm. */
  end(): void {
    this.#over = true;
    this.#resume();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    // not at once: this may be in the middle of reading
    setImmediate(() => this.#reader.stream?.emit("readable"));
  }
}

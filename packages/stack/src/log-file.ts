import { closeSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { copyFile, rm, truncate } from "node:fs/promises";
import { dirname } from "node:path";

const READ_BYTES = 256 * 1024;
const LIMIT_BYTES = 128 * 1024 * 1024;

/**
 * The file that a service writes its output into by itself. Not a pipe through us: it costs us nothing per line, nothing is lost when we are
 * killed, and no service hangs on a pipe without a reader (the logger then waits for ever in its last flush).
 */
export class LogFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #onData: (piece: Buffer) => void;
  readonly #limitBytes: number;
  #position: number;
  #rotating = false;

  constructor(path: string, onData: (piece: Buffer) => void, limitBytes = LIMIT_BYTES) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#path = path;
    this.#descriptor = openSync(path, "a+", 0o600);
    this.#position = fstatSync(this.#descriptor).size;
    this.#onData = onData;
    this.#limitBytes = limitBytes;
  }

  /** For the service's standard output and error; several may append at once. */
  get descriptor(): number {
    return this.#descriptor;
  }

  /** Hands on what was written since the last time. */
  read(): void {
    if (this.#rotating) return;
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (;;) {
      const n = readSync(this.#descriptor, buffer, 0, READ_BYTES, this.#position);
      if (n === 0) break;
      this.#position += n;
      this.#onData(Buffer.from(buffer.subarray(0, n)));
    }
    if (this.#position > this.#limitBytes) void this.#rotate();
  }

  /**
   * One former file is kept, where the disk has room for it. What is written between copy and cut is lost: a laptop's disk that does not
   * fill up is worth that.
   */
  async #rotate(): Promise<void> {
    this.#rotating = true;
    const former = `${this.#path}.1`;
    try {
      // half a copy is of no use, and takes the room that is missing
      await copyFile(this.#path, former).catch(() => rm(former, { force: true }).catch(() => undefined));
      await truncate(this.#path);
      this.#position = 0;
    } catch {
      // it is tried again at the next read
    } finally {
      this.#rotating = false;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

import { closeSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { copyFile, rm, truncate } from "node:fs/promises";
import { dirname } from "node:path";

const READ_BYTES = 256 * 1024;
const LIMIT_BYTES = 128 * 1024 * 1024;

/**
 * The file that a service writes its output into directly. A pipe through us would cost time per line, lose output when we are killed, and block a
 * service without a reader (the logger then waits forever in its last flush).
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

  /** It is for the service's standard output and error; several may append at a time. */
  get descriptor(): number {
    return this.#descriptor;
  }

  /** Passes on what was written since the last time. */
  read(): void {
    // most of the time nothing was written, which must cost nothing
    if (this.#rotating || fstatSync(this.#descriptor).size <= this.#position) return;
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
   * Keeps one previous file, if the disk has room for it. What is written between copy and truncation is lost, which is acceptable for a disk that
   * does not fill up.
   */
  async #rotate(): Promise<void> {
    this.#rotating = true;
    const former = `${this.#path}.1`;
    try {
      // half a copy is of no use and takes room that is needed
      await copyFile(this.#path, former).catch(() => rm(former, { force: true }).catch(() => undefined));
      await truncate(this.#path);
      this.#position = 0;
    } catch {
      // the next read tries again
    } finally {
      this.#rotating = false;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

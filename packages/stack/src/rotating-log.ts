import { mkdirSync } from "node:fs";
import { appendFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Writable } from "node:stream";

const LIMIT_BYTES = 128 * 1024 * 1024;

/**
 * A log that is written through us, 0600: beyond its limit it begins anew, and the previous file is kept as `<path>.1`. A piece without room is
 * lost, because a full disk must end neither us nor the reading.
 */
export function createRotatingLog(path: string, limitBytes = LIMIT_BYTES): Writable {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let size: number | undefined;
  const append = async (piece: Buffer): Promise<void> => {
    size ??= await sizeOf(path);
    if (size > 0 && size + piece.length > limitBytes) {
      await rename(path, `${path}.1`);
      size = 0;
    }
    await appendFile(path, piece, { mode: 0o600 });
    size += piece.length;
  };
  return new Writable({
    write: (piece: Buffer, _encoding, done) =>
      void append(piece).then(
        () => done(),
        () => done(),
      ),
  });
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  // a device has no size and must not be moved
  return found?.isFile() === true ? found.size : 0;
}

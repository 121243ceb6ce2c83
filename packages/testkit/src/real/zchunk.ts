import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { install } from "./cache.ts";
import { debianPackages } from "./debian.ts";

/** A file in chunks that can be fetched one by one. */
export interface Zchunk {
  readonly file: Buffer;
  /** Its beginning, which names the chunks. */
  readonly header: Buffer;
}

/** Makes a file as the documentation of SWUpdate's delta handler describes, by zchunk's own tool of Debian. */
export async function makeZchunk(content: Buffer): Promise<Zchunk> {
  const { root, env } = await debianPackages(["zchunk"]);
  const dir = mkdtempSync(join(tmpdir(), "harrier-zchunk-"));
  try {
    const [plain, packed] = [join(dir, "image"), join(dir, "image.zck")];
    writeFileSync(plain, content);
    // the hashes are those of uncompressed chunks, because the content of a device is not compressed
    const options = ["--uncompressed", "--chunk-hash-type", "sha256", "--output", packed];
    await install(join(root, "usr", "bin", "zck"), [...options, plain], { env: { ...process.env, ...env } });
    const file = readFileSync(packed);
    return { file, header: file.subarray(0, headerSize(file)) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Fetches such a file like zckdl, with the chunks of an older file: all missing parts are in one request. */
export async function downloadZchunk(url: string, older: Zchunk): Promise<Buffer> {
  const { root, env } = await debianPackages(["zchunk"]);
  const dir = mkdtempSync(join(tmpdir(), "harrier-zchunk-"));
  try {
    const source = join(dir, "older.zck");
    writeFileSync(source, older.file);
    const command = join(root, "usr", "bin", "zckdl");
    await install(command, ["--fail-no-ranges", "--source", source, url], { cwd: dir, env: { ...process.env, ...env } });
    return readFileSync(join(dir, basename(new URL(url).pathname)));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const MAGIC = "\0ZCK1";
const CHECKSUM_SIZES = [20, 32, 64, 16]; // these are sha1, sha256, sha512, sha512/128

/**
 * Answers the size of the lead (magic, type of checksum, length of the rest, checksum) and the rest. Numbers have seven bits per byte, and the last
 * byte is marked.
 */
function headerSize(file: Buffer): number {
  if (file.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new Error("this is no zchunk file");
  let at = MAGIC.length;
  const number = () => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = file.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte & 0x80) return value;
    }
  };
  const checksumSize = CHECKSUM_SIZES[number()];
  const rest = number();
  if (checksumSize === undefined) throw new Error("a zchunk file with a checksum of an unknown type");
  return at + checksumSize + rest;
}

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

/** Makes one as the documentation of SWUpdate's delta handler says, by zchunk's own tool of Debian. */
export async function makeZchunk(content: Buffer): Promise<Zchunk> {
  const { root, env } = await debianPackages(["zchunk"]);
  const dir = mkdtempSync(join(tmpdir(), "harrier-zchunk-"));
  try {
    const [plain, packed] = [join(dir, "image"), join(dir, "image.zck")];
    writeFileSync(plain, content);
    // with the hashes of the chunks as they are before they are compressed: what a device has is not compressed
    const options = ["--uncompressed", "--chunk-hash-type", "sha256", "--output", packed];
    await install(join(root, "usr", "bin", "zck"), [...options, plain], { env: { ...process.env, ...env } });
    const file = readFileSync(packed);
    return { file, header: file.subarray(0, headerSize(file)) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Fetches such a file as zckdl does, with what an older one holds already: all parts that are missing are asked for at once. */
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
const CHECKSUM_SIZES = [20, 32, 64, 16]; // sha1, sha256, sha512, sha512/128

/** Lead (magic, type of checksum, length of the rest, checksum) and the rest; numbers are of seven bits a byte, the last one is marked. */
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

import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";

export interface Archive {
  readonly file: string;
  remove(): Promise<void>;
}

const mebi = 1024 * 1024;

/** Makes a real archive of at least `size` bytes, with content that no compression makes smaller. */
export async function makeArchive(name: string, size: number): Promise<Archive> {
  const dir = await mkdtemp(join(tmpdir(), "harrier-demo-"));
  const root = join(dir, "firmware");
  await mkdir(root);
  await writeFile(join(root, "manifest.json"), JSON.stringify({ name, createdAt: new Date().toISOString() }));
  for (let written = 0, i = 0; written < size; written += 2 * mebi, i += 1) {
    await writeFile(join(root, `part-${String(i).padStart(3, "0")}.bin`), randomBytes(2 * mebi));
  }
  const file = join(dir, name);
  await create({ file, cwd: dir, gzip: { level: 1 }, portable: true }, ["firmware"]);
  return { file, remove: () => rm(dir, { recursive: true, force: true }) };
}

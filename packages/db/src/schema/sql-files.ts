import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The folders of a service that hold SQL; each is applied in its own way. */
export type SqlFolder = "migrations" | "functions" | "views";

export interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

/** Reads the *.sql files of a folder by name; a missing folder has none. */
export async function readSqlFiles(dir: string): Promise<SqlFile[]> {
  let names: string[];
  try {
    names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(dir, name), "utf8");
      return { name, text, sha256: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Database } from "@harrier/db";
import { type TestDatabase, testDatabase, withClient } from "@harrier/testkit";
import { createDirectoryStorage } from "./storage/directory.ts";
import type { Storage } from "./storage/storage.ts";
import { openUpload } from "./upload/lease.ts";
import { stageFile, storeBlob, type UploadContent } from "./upload/store.ts";

export const tenantId = 1;

export const principal = { tenantId, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: ["CREATE_REPOSITORY"] } as const;

export const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export interface Bench {
  readonly database: TestDatabase;
  readonly db: Database;
  readonly storage: Storage;
  readonly root: string;
  /** Returns the names of all files in the store. */
  files(): Promise<string[]>;
  /** Counts the rows that are left in the tables of this service. */
  rows(): Promise<{ blobs: number; blobReferences: number; uploads: number }>;
  /** Runs a statement as the superuser, to act as another service. */
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Removes everything that has been uploaded. */
  clear(): Promise<void>;
  dispose(): Promise<void>;
}

/** Opens a real database with the schemas of all services, and a real storage directory. */
export async function openBench(): Promise<Bench> {
  const database = await testDatabase();
  const root = await mkdtemp(join(tmpdir(), "harrier-store-"));
  const storage = createDirectoryStorage(root);
  await storage.prepare();
  const sql = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(database.adminUrl, async (client) => (await client.query<Row>(text, values)).rows);
  const files = async (): Promise<string[]> => {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  };
  return {
    database,
    db: database.db("artifact-store"),
    storage,
    root,
    sql,
    files,
    async clear() {
      await sql("delete from management.artifacts");
      // One statement per transaction: a service that runs beside the test can never wait for this and be waited for.
      for (const table of ["blob_references", "uploads", "released_artifacts", "blobs"]) await sql(`delete from artifact_store.${table}`);
      for (const file of await files()) await storage.delete(file);
    },
    async rows() {
      const [row] = await sql<{ blobs: number; blobReferences: number; uploads: number }>(
        `select (select count(*)::int from artifact_store.blobs) as blobs,
                (select count(*)::int from artifact_store.blob_references) as "blobReferences",
                (select count(*)::int from artifact_store.uploads) as uploads`,
      );
      if (row === undefined) throw new Error("no row");
      return row;
    },
    async dispose() {
      await database.drop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

export function randomContent(size = 2_000): { bytes: Buffer; sha256: string; sha1: string; md5: string } {
  const bytes = randomBytes(size);
  const hash = (name: string): string => createHash(name).update(bytes).digest("hex");
  return { bytes, sha256: hash("sha256"), sha1: hash("sha1"), md5: hash("md5") };
}

/** Runs an upload up to the point where it holds its blob; the attach comes next. */
export async function storeContent(deps: Pick<Bench, "db" | "storage">, bytes: Buffer, moduleId = 11) {
  const lease = await openUpload(deps.db, principal, moduleId);
  const hashes = await stageFile(deps, lease, { file: Readable.from([bytes]), room: { maxBytes: 10 ** 9, storageBound: false } });
  const content: UploadContent = { ...hashes, filename: `${randomUUID()}.bin` };
  await storeBlob(deps, lease, content);
  return { ...lease, ...content, moduleId, attempts: 0 };
}

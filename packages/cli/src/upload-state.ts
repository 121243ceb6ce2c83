import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { environment } from "./environment.ts";

/** The file of an upload, where it goes, and as whom: another content, another place or another user never goes on with the upload of this one. */
export interface UploadKey {
  readonly server: string;
  /** Who signs in, without a secret. */
  readonly as: string;
  readonly softwareModuleId: number;
  readonly filename: string;
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** When the file was changed, in epoch milliseconds. */
  readonly changedMs: number;
}

/** An upload that has begun and has not ended; it holds no credential. */
export interface BegunUpload extends UploadKey {
  readonly id: string;
  /** When the server forgets it, in epoch milliseconds. */
  readonly expiresAt: number;
}

/** A tenant has fewer unfinished uploads; of more than this the oldest are forgotten. */
const maxUploads = 200;

function statePath(): string {
  return join(environment.stateHome || join(environment.home, ".local", "state"), "harrier", "uploads.json");
}

/** Reads what has begun; a file that is not there, or is not readable as one, says that nothing has. */
function readBegun(): readonly BegunUpload[] {
  try {
    const read = JSON.parse(readFileSync(statePath(), "utf8")) as unknown;
    return Array.isArray(read)
      ? (read as BegunUpload[]).filter(({ id, expiresAt }) => typeof id === "string" && expiresAt > Date.now())
      : [];
  } catch {
    return [];
  }
}

/** Replaces the file as a whole, so that a reader sees the old or the new one. */
function writeBegun(all: readonly BegunUpload[]): void {
  const path = statePath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(all.slice(-maxUploads))}\n`, { mode: 0o600 });
  renameSync(next, path);
}

const keys = ["server", "as", "softwareModuleId", "filename", "path", "size", "changedMs"] as const;
const same = (one: UploadKey, other: UploadKey): boolean => keys.every((name) => one[name] === other[name]);

/** Answers the upload that an interrupted run has begun. */
export function begunUpload(key: UploadKey): BegunUpload | undefined {
  return readBegun().find((one) => same(one, key));
}

/** Keeps an upload in `$XDG_STATE_HOME/harrier/uploads.json`, so that the next run goes on with it. */
export function keepUpload(upload: BegunUpload): void {
  writeBegun([...readBegun().filter((one) => !same(one, upload)), upload]);
}

/** Forgets an upload that has ended. */
export function forgetUpload(key: UploadKey): void {
  const all = readBegun();
  if (all.some((one) => same(one, key))) writeBegun(all.filter((one) => !same(one, key)));
}

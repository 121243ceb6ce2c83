import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { findBlob } from "../blobs/blobs.sql.ts";
import type { BlobDeps } from "../blobs/blobs.ts";
import { contentKey } from "../storage/storage.ts";
import { listStored, type StoredBlob } from "./scrub.sql.ts";

export interface ScrubDeps extends BlobDeps {
  /** At most so many bytes are read per second. */
  readonly bytesPerSecond: number;
  readonly onDamage: (damage: Damage) => void;
  /** Waits; tests replace it. */
  readonly pause?: (ms: number) => Promise<void>;
  readonly now?: () => number;
}

export interface Damage extends StoredBlob {
  /** `missing`: there is no object; `size`: it has another size; `content`: its bytes have another hash; `unreadable`: it broke off three times. */
  readonly problem: "missing" | "size" | "content" | "unreadable";
}

export interface Scrubbed {
  readonly blobs: number;
  readonly bytes: number;
  readonly damaged: number;
}

const pageSize = 500;
const readAttempts = 3;

/**
 * Reads every object that a blob promises, hashes it again and reports what is damaged; it changes nothing. Blobs that come meanwhile may be passed
 * over, those that go are no damage.
 * @throws HarrierError unavailable if the object store does not answer: what is left is not known to be sound.
 */
export async function scrub(deps: ScrubDeps): Promise<Scrubbed> {
  const pace = createPace(deps);
  let [blobs, bytes, damaged] = [0, 0, 0];
  let after: Pick<StoredBlob, "tenantId" | "sha256"> = { tenantId: 0, sha256: "" };
  for (;;) {
    const page = await run(deps.db.pool, listStored, [after.tenantId, after.sha256, pageSize]);
    for (const blob of page) {
      const problem = await check(deps, blob, pace);
      blobs += 1;
      bytes += blob.size;
      if (problem === undefined || (await isGone(deps, blob))) continue;
      damaged += 1;
      deps.onDamage({ ...blob, problem });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return { blobs, bytes, damaged };
    after = last;
  }
}

async function check(deps: ScrubDeps, { tenantId, sha256, size }: StoredBlob, pace: Pace): Promise<Damage["problem"] | undefined> {
  const key = contentKey(tenantId, sha256);
  const found = await deps.storage.stat(key);
  if (found === undefined) return "missing";
  if (found.size !== size) return "size";
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await hashOf(await deps.storage.open(key, size), pace)) === sha256 ? undefined : "content";
    } catch (error) {
      if (error instanceof HarrierError && error.code === "unavailable") throw error;
      // a connection that broke once says nothing of the object
      if (attempt === readAttempts) return "unreadable";
    }
  }
}

async function hashOf(source: AsyncIterable<Buffer>, pace: Pace): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of source) {
    hash.update(chunk);
    await pace(chunk.length);
  }
  return hash.digest("hex");
}

/** A blob that was released while it was read is no damage. */
async function isGone({ db }: ScrubDeps, { tenantId, sha256 }: StoredBlob): Promise<boolean> {
  return (await runOne(db.pool, findBlob, [tenantId, sha256])) === undefined;
}

type Pace = (bytes: number) => Promise<void> | void;

/** A pause is worth its timer from so many milliseconds on. */
const shortestPauseMs = 20;

/** Waits whenever more has been read than the rate allows. */
function createPace({ bytesPerSecond, pause = sleep, now = Date.now }: ScrubDeps): Pace {
  let due = now();
  return (bytes) => {
    const time = now();
    // time in which nothing was read is not made up for
    due = Math.max(due, time - 1_000) + (bytes / bytesPerSecond) * 1_000;
    const ahead = due - time;
    return ahead < shortestPauseMs ? undefined : (pause(ahead) as Promise<void>);
  };
}

import { type Queryable, runOne } from "@harrier/db";
import { WorkLoop } from "../operations/work-loop.ts";
import { walkTargetMetadata } from "./metadata-walk.sql.ts";

interface Deps {
  db: Queryable;
  log: { warn(details: object, message: string): void };
}

const everyMs = 1_000;
/** An index range of some milliseconds. */
const entries = 5_000;

/** Looks at the next metadata of targets once a second, for what they use of their quota (contract management.md §10.3, `used`). */
export function metadataWalk({ db, log }: Deps): WorkLoop {
  return new WorkLoop({
    // each step is followed by a rest, however much there is
    work: async () => {
      await runOne(db, walkTargetMetadata, [entries]);
      return false;
    },
    failed: (err) => log.warn({ err }, "what targets use of their metadata could not be looked at"),
    pollMs: everyMs,
  });
}

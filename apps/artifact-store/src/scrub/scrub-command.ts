import { createDatabase } from "@harrier/db";
import type { Log } from "@harrier/service";
import type { ArtifactStoreConfig } from "../config.ts";
import { openStorage } from "../storage/open-storage.ts";
import { scrub } from "./scrub.ts";

const mebi = 2 ** 20;

/**
 * Runs `main.js scrub`: one line of JSON on standard output for each damaged blob, and one with the sums at the end. Returns the exit code, which is
 * 1 if anything is damaged.
 */
export async function scrubCommand(config: ArtifactStoreConfig, log: Log): Promise<number> {
  const onConnectionError = (error: Error): void => log.warn({ err: error }, "an idle database connection broke");
  const db = createDatabase({ url: config.HARRIER_DATABASE_URL, applicationName: "harrier/artifact-store scrub", onConnectionError });
  try {
    const storage = await openStorage(config.storage, log);
    const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
    const scrubbed = await scrub({ db, storage, bytesPerSecond: config.HARRIER_SCRUB_MIB_PER_SECOND * mebi, onDamage: print });
    print(scrubbed);
    return scrubbed.damaged === 0 ? 0 : 1;
  } finally {
    await db.close();
  }
}

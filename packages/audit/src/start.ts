import { backgroundOf, type Database, ensurePartitions } from "@harrier/db";
import { auditTables } from "./retention.ts";
import { Sealer } from "./sealer.ts";
import { AuditTrail } from "./trail.ts";

interface Deps {
  readonly db: Database;
  /** Of the service that keeps the trail. */
  readonly schema: string;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

const partitionsEveryMs = 60 * 60 * 1000;

/** The whole of a service's audit: its trail, the sealing of it, and its partitions, made ahead and dropped when their time is over. */
export async function startAudit({ db, schema, log }: Deps): Promise<{ trail: AuditTrail; stop(): Promise<void> }> {
  const prepare = () => ensurePartitions({ pool: db.background, schema, tables: auditTables });
  await prepare();
  const partitions = setInterval(() => {
    prepare().catch((err: unknown) => log.warn({ err }, "audit: partitions could not be maintained"));
  }, partitionsEveryMs);
  const trail = new AuditTrail({ db: db.pool, log, now: Date.now });
  const sealer = new Sealer({ db: backgroundOf(db), schema, log });
  trail.start();
  sealer.start();
  return {
    trail,
    async stop() {
      clearInterval(partitions);
      trail.stop();
      await sealer.stop();
    },
  };
}

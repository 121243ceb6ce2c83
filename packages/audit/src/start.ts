import { backgroundOf, createSigner, type Database } from "@harrier/db";
import type { AuditSchema } from "./anchor.sql.ts";
import { Anchorer } from "./anchorer.ts";
import { checkRights } from "./rights.ts";
import { keepPartitions } from "./seal.sql.ts";
import { Sealer } from "./sealer.ts";
import { AuditTrail } from "./trail.ts";

interface Deps {
  readonly db: Database;
  /** Of the service that keeps the trail. */
  readonly schema: AuditSchema;
  /** 32 bytes in base64: signs what this service sees of the other trails. */
  readonly key?: string | undefined;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

const partitionsEveryMs = 60 * 60 * 1000;

/**
 * The whole of a service's audit: its trail, the sealing of it, its partitions, made ahead and dropped when their time is over, and the look at
 * the other services' trails. Throws where the trail is missing or its service could change it.
 */
export async function startAudit({ db, schema, key, log }: Deps): Promise<{ trail: AuditTrail; stop(): Promise<void> }> {
  await checkRights(db.pool, schema);
  const signer = key === undefined ? undefined : createSigner(key);
  if (signer === undefined) log.warn({ schema }, "audit: HARRIER_AUDIT_KEY is not set; what is seen of the other trails is not signed");
  else log.info({ schema, publicKey: signer.publicKey.toString("base64") }, "audit: what is seen of the other trails is signed");
  await keepPartitions(db.background);
  const partitions = setInterval(() => {
    keepPartitions(db.background).catch((err: unknown) => log.warn({ err }, "audit: partitions could not be maintained"));
  }, partitionsEveryMs);
  const trail = new AuditTrail({ db: db.pool, log, now: Date.now });
  const sealer = new Sealer({ db: backgroundOf(db), schema, log });
  const anchorer = new Anchorer({ db: db.background, schema, signer, log });
  trail.start();
  sealer.start();
  anchorer.start();
  return {
    trail,
    async stop() {
      clearInterval(partitions);
      trail.stop();
      await Promise.all([sealer.stop(), anchorer.stop()]);
    },
  };
}

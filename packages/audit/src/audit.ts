import { backgroundOf, createSigner, type Database, type Signer } from "@harrier/db";
import type { AuditSchema } from "./anchor.sql.ts";
import { checkRights } from "./rights.ts";
import { keepPartitions } from "./seal.sql.ts";
import { AuditTrail } from "./trail.ts";

interface Deps {
  readonly db: Database;
  /** The schema of the service that keeps the trail. */
  readonly schema: AuditSchema;
  /** These 32 bytes in base64 sign what this service sees of the other trails. */
  readonly key?: string | undefined;
  /** It is called when an entry has ended: it wakes `audit-seal`. */
  readonly onEnded?: () => void;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** The audit of a service: its trail, and what `auditJobs` need. */
export interface Audit {
  readonly trail: AuditTrail;
  readonly background: Database;
  readonly schema: AuditSchema;
  readonly signer: Signer | undefined;
  readonly log: Deps["log"];
}

/** Opens the trail and creates its partitions. Throws if the trail is missing or its service could change it. */
export async function openAudit({ db, schema, key, onEnded, log }: Deps): Promise<Audit> {
  await checkRights(db.pool, schema);
  const signer = key === undefined ? undefined : createSigner(key);
  if (signer === undefined) log.warn({ schema }, "audit: HARRIER_AUDIT_KEY is not set; what is seen of the other trails is not signed");
  else log.info({ schema, publicKey: signer.publicKey.toString("base64") }, "audit: what is seen of the other trails is signed");
  await keepPartitions(db.background);
  const trail = new AuditTrail({ db: db.pool, log, now: Date.now, onEnded });
  return { trail, background: backgroundOf(db), schema, signer, log };
}

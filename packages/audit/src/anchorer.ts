import type { Queryable, Signer } from "@harrier/db";
import { type AuditSchema, addAnchor, type ForeignHead, readHeads } from "./anchor.sql.ts";
import { signAnchor } from "./anchor.ts";

interface Deps {
  readonly db: Queryable;
  /** The schema of the service that anchors the others. */
  readonly schema: AuditSchema;
  /** Without it only the rights of the database protect anchors. */
  readonly signer?: Signer | undefined;
  readonly log: { error(fields: object, message: string): void };
}

/** Anchors the ends of the other services' chains; returns the chains that no longer match an earlier anchor. */
export async function anchorHeads({ db, schema, signer }: Omit<Deps, "log">): Promise<ForeignHead[]> {
  const heads = await readHeads(db, schema);
  for (const { service, number, position, hash, sealedAt, now, known } of heads) {
    if (known || number === 0) continue;
    await addAnchor(db, signAnchor(signer, { seenBy: schema, service, number, position, hash, sealedAt, anchoredAt: now }));
  }
  return heads.filter(({ kept, number, anchored }) => !kept || (anchored !== null && number < anchored));
}

/** Does one round of anchoring, and raises an alarm for a trail that no longer contains what it contained. */
export async function anchorAll(deps: Deps): Promise<void> {
  for (const { service, number, anchored } of await anchorHeads(deps)) {
    const found = { seenBy: deps.schema, service, batch: anchored, end: number };
    deps.log.error(found, "audit: a trail no longer holds a batch that it held before");
  }
}

import { type Queryable, run, runOne, statement } from "@harrier/db";
import type { Anchor, SeenHead } from "./anchor.ts";
import { micros, momentOf } from "./columns.ts";

/** The schemas of the services that keep a trail. Only these names are ever put into the statements here. */
export const auditSchemas = ["management", "rollout_engine", "artifact_store"] as const;
export type AuditSchema = (typeof auditSchemas)[number];

export const othersThan = (schema: AuditSchema): AuditSchema[] => auditSchemas.filter((other) => other !== schema);

export interface ForeignHead extends SeenHead {
  service: AuditSchema;
  now: string;
  /** It is the batch that was anchored last. */
  known: boolean;
  /** The number of the batch that was anchored last; null if none was. */
  anchored: number | null;
  /** That batch is still as it was seen, or is past the retention. */
  kept: boolean;
}

/** It is prepared, because it is asked again and again, and its plan is large: the batches are partitioned by month. */
const headsSeenBy = (schema: AuditSchema) => {
  const parts = othersThan(schema).map(
    (other) => `
      select '${other}' as service, c.number, c.position, c.hash, ${micros("c.sealed_at")} as "sealedAt", ${micros("clock_timestamp()")} as now,
             a.hash is not distinct from c.hash and a.number is not distinct from c.number as known, a.number as anchored,
             a.number is null or a.sealed_at < now() - interval '24 months'
               or exists (select from ${other}_audit.audit_batches_v1 b where b.number = a.number and b.sealed_at = a.sealed_at and b.hash = a.hash) as kept
        from ${other}_audit.audit_chain_v1 c
        left join lateral (select number, hash, sealed_at from ${schema}_audit.audit_anchors_v1 where service = '${other}'
                            order by number desc, anchored_at desc limit 1) a on true
       where c.number > 0 or a.number is not null`,
  );
  return statement<[], ForeignHead>(`audit.heads_seen_by_${schema}`, parts.join(" union all "));
};

const headsBy = new Map(auditSchemas.map((schema) => [schema, headsSeenBy(schema)]));

/** Reads the ends of the other services' chains, beside what this service has anchored of them, in one round trip. */
export async function readHeads(db: Queryable, schema: AuditSchema): Promise<ForeignHead[]> {
  return run(db, headsBy.get(schema) ?? headsSeenBy(schema), []);
}

const add = statement<
  [
    service: string,
    number: number,
    position: number,
    hash: Buffer,
    sealedAt: string,
    at: string,
    key: Buffer | null,
    signature: Buffer | null,
  ],
  { added: boolean }
>(
  "audit.anchor",
  `select audit_anchor($1::text, $2::bigint, $3::bigint, $4::bytea, ${momentOf("$5")}, ${momentOf("$6")}, $7::bytea, $8::bytea) as added`,
);

/** Records an anchor, once for each batch, in one round trip. */
export async function addAnchor(db: Queryable, a: Anchor): Promise<void> {
  await runOne(db, add, [a.service, a.number, a.position, a.hash, a.sealedAt, a.anchoredAt, a.publicKey, a.signature]);
}

const columns = (seenBy: AuditSchema) => `'${seenBy}' as "seenBy", service, number, position, hash, ${micros("sealed_at")} as "sealedAt",
  ${micros("anchored_at")} as "anchoredAt", public_key as "publicKey", signature`;

/** Reads what the other services have seen of these batches, in one round trip. */
export async function readAnchors(db: Queryable, schema: AuditSchema, range: { from: number; to: number }): Promise<Anchor[]> {
  const parts = othersThan(schema).map(
    (other) => `select ${columns(other)} from ${other}_audit.audit_anchors_v1 where service = '${schema}' and number between $1 and $2`,
  );
  return run<Anchor>(db, { sql: `${parts.join(" union all ")} order by number`, bindings: [range.from, range.to] });
}

/** Reads the highest batch that each of the other services has seen, in one round trip. */
export async function readNewestAnchors(db: Queryable, schema: AuditSchema): Promise<Anchor[]> {
  const parts = othersThan(schema).map(
    (other) => `(select ${columns(other)} from ${other}_audit.audit_anchors_v1
                  where service = '${schema}' order by number desc, anchored_at desc limit 1)`,
  );
  return run<Anchor>(db, { sql: parts.join(" union all "), bindings: [] });
}

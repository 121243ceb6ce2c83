import { type CompiledQuery, type Queryable, runOne, statement } from "@harrier/db";
import type { FieldMap, SortMap } from "@harrier/fiql";
import { type Columns, epochMs, type PageSource, selectList } from "@harrier/query";

/** These schemas publish an audit trail; each stands with the name of its service. */
export const auditServices = { management: "management", rollout_engine: "rollout-engine", artifact_store: "artifact-store" } as const;

export interface EntryRow {
  id: string;
  time: number;
  actorType: string;
  actor: string;
  action: string;
  entity: string;
  entityIds: string[];
  sourceIp: string;
  requestId: string;
  result: "SUCCESS" | "REFUSED" | "FAILED" | "UNKNOWN";
  status: number | null;
  errorCode: string | null;
  times: number;
  details: string;
  service: string;
  sealed: boolean;
}

const columns: Columns = {
  id: "t.id::text",
  time: epochMs("t.at"),
  actorType: "t.actor_kind",
  actor: "t.actor",
  action: "t.action",
  entity: "t.entity",
  entityIds: "t.entity_ids",
  sourceIp: "t.source_ip",
  requestId: "t.request_id",
  result: "t.result",
  status: "t.status",
  errorCode: "t.error_code",
  times: "t.times",
  details: "t.details",
  service: "t.service",
  sealed: "t.position is not null",
};

const used = statement<[], Record<keyof typeof auditServices, boolean>>(
  "management.audit_used",
  `select (select count(*) from (select from tenants limit 2) t) > 1 or exists (select from distribution_sets) or exists (select from software_modules)
            as management,
          exists (select from rollout_engine.rollouts_v1) or exists (select from rollout_engine.target_filters_v1) as rollout_engine,
          exists (select from artifact_store.blobs_v1) as artifact_store`,
);

/** Returns the services that hold something that only a changing call can make, so that their trails cannot be empty. It costs one round trip. */
export async function readUsed(db: Queryable): Promise<Record<keyof typeof auditServices, boolean>> {
  return (await runOne(db, used, [])) ?? { management: false, rollout_engine: false, artifact_store: false };
}

/** This is the union of the trails of all services; each part is read by its own index on (tenant_id, at, id). */
const everywhere = `(${Object.entries(auditServices)
  .map(([schema, service]) => `select '${service}'::text as service, * from ${schema}_audit.audit_v1`)
  .join(" union all ")})`;

export const entryList = (tenantId: number): PageSource => ({
  from: everywhere,
  columns,
  where: "t.tenant_id = $1",
  values: [tenantId],
});

/**
 * Reads the newest entries of a source, or those before the entry of this time and id. Repeated until none is left, it walks the index of each
 * trail backwards, without a long transaction; an entry that is written meanwhile is newer than where the walk began.
 */
export function entriesBefore(
  source: PageSource,
  { before, limit }: { before: EntryRow | undefined; limit: number },
): CompiledQuery<EntryRow> {
  const [at, id] = [`$${source.values.length + 1}`, `$${source.values.length + 2}`];
  // The first condition alone is one that the index of every partition knows.
  const older = before === undefined ? "" : `and t.at <= ${at}::timestamptz and (t.at, t.id) < (${at}::timestamptz, ${id}::uuid)`;
  return {
    sql: `select ${selectList(columns)}
            from (select t.* from ${source.from} t where ${source.where} ${older} order by t.at desc, t.id desc limit ${limit}) t
           order by t.at desc, t.id desc`,
    bindings: before === undefined ? source.values : [...source.values, new Date(before.time), before.id],
  };
}

const text = (column: string) => ({ kind: "text", column }) as const;

export const entryFields: FieldMap = {
  time: { kind: "timestamp", column: "t.at" },
  actor: text("t.actor"),
  actortype: text("t.actor_kind"),
  action: text("t.action"),
  entity: text("t.entity"),
  entityid: { kind: "toMany", from: "unnest(t.entity_ids) as e(value)", on: "true", fields: { value: text("e.value") }, bare: "value" },
  sourceip: text("t.source_ip"),
  requestid: text("t.request_id"),
  result: {
    kind: "enum",
    column: "t.result",
    codes: { success: "SUCCESS", refused: "REFUSED", failed: "FAILED", unknown: "UNKNOWN" },
  },
  status: { kind: "number", column: "t.status" },
  errorcode: text("t.error_code"),
  times: { kind: "number", column: "t.times" },
  service: text("t.service"),
};

export const entrySort: SortMap = {
  fields: {
    time: "t.at",
    actor: "t.actor",
    action: "t.action",
    entity: "t.entity",
    sourceip: "t.source_ip",
    result: "t.result",
    status: "t.status",
    times: "t.times",
    service: "t.service",
  },
  initial: "t.at desc, t.id desc",
  last: "t.at desc, t.id desc",
  nullable: ["t.status"],
};

/** Finds an entry by id. An id of version 7 holds the time of the entry, so that the partitions of other months are only searched by their index. */
export const findEntry = statement<[tenantId: number, id: string, at: Date], EntryRow>(
  "management.find_audit_entry",
  `select ${selectList(columns)} from ${everywhere} t where t.tenant_id = $1 and t.at = $3 and t.id = $2`,
);

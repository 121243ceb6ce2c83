import { type Columns, epochMs, type ListKind } from "@harrier/query";
import type { Reason } from "../domain/changes.ts";
import type { BucketCounts, GroupStatus, RolloutStatus } from "../domain/facts.ts";

/** The interface shows a step in this form. */
export interface StepRow {
  sequence: number;
  at: number;
  actor: string;
  group: { id: number; name: string } | null;
  previousStatus: RolloutStatus | GroupStatus | null;
  status: RolloutStatus | GroupStatus;
  reason: Reason | null;
  causedBy: { id: number; name: string } | null;
  value: number | null;
  limit: number | null;
  remark: string | null;
  totalTargets: number | null;
  /** Null where there were no actions yet. */
  counts: BucketCounts | null;
}

const named = (alias: string): string =>
  `case when ${alias}.id is not null then json_build_object('id', ${alias}.id, 'name', ${alias}.name) end`;

const columns: Columns = {
  sequence: "t.sequence",
  at: epochMs("t.at"),
  actor: "t.actor",
  group: named("g"),
  previousStatus: "t.previous_status",
  status: "t.status",
  reason: "t.reason",
  causedBy: named("b"),
  value: "t.value",
  limit: "t.threshold",
  remark: "t.remark",
  totalTargets: "t.total_targets",
  counts: "t.counts",
};

const groupBy = (alias: string, column: string): string =>
  `left join rollout_groups ${alias} on ${alias}.tenant_id = t.tenant_id and ${alias}.rollout_id = t.rollout_id and ${alias}.id = t.${column}`;

/** The steps of a rollout, the oldest first unless asked otherwise; those of its creation come first. */
export const stepList = (tenantId: number, rolloutId: number): ListKind => ({
  source: {
    from: "rollout_steps",
    where: "t.tenant_id = $1 and t.rollout_id = $2",
    values: [tenantId, rolloutId],
    columns,
    joins: `${groupBy("g", "group_id")} ${groupBy("b", "caused_by")}`,
    known: "exists (select 1 from rollouts r where r.tenant_id = $1 and r.id = $2)",
  },
  sort: { fields: { sequence: "t.sequence" }, initial: "t.sequence asc", last: "t.sequence asc" },
});

import { type Queryable, runOne } from "@harrier/db";
import type { GroupChange, RolloutChange } from "../domain/changes.ts";
import type { RolloutStatus } from "../domain/facts.ts";
import { type AskedChange, applyChangesStatement } from "./apply-changes.sql.ts";

export interface Changes {
  tenantId: number;
  /** Canonical name, for the events. */
  tenant: string;
  rolloutId: number;
  /** The rollout must be in one of these, or nothing happens. */
  expected: readonly RolloutStatus[];
  /** And of this epoch; absent for any. */
  epoch?: number;
  groups: readonly GroupChange[];
  rollout?: RolloutChange;
  /** Absent: the engine. */
  actor?: string;
  traceparent?: string | undefined;
  /** Wake the engine; it needs no waking by itself. */
  ring?: boolean;
}

/** Changes statuses with their events; false when the rollout is no longer as expected. One round trip. */
export async function applyChanges(db: Queryable, changes: Changes): Promise<boolean> {
  const { tenantId, rolloutId, expected, groups, rollout } = changes;
  const asked: AskedChange[] = groups.map((group, n) => ({
    n,
    groupId: group.id,
    from: group.from,
    to: group.to ?? null,
    requestStart: group.requestStart ?? false,
    reason: null,
    causedBy: null,
    decidedBy: null,
    remark: null,
  }));
  if (rollout) {
    const { from = null, to, reason = null, groupId: causedBy = null, decision } = rollout;
    const decided = { decidedBy: decision?.by ?? null, remark: decision?.remark ?? null };
    asked.push({ n: asked.length, groupId: null, from, to, requestStart: false, reason, causedBy, ...decided });
  }
  const row = await runOne(db, applyChangesStatement, [
    tenantId,
    rolloutId,
    expected,
    changes.epoch ?? null,
    JSON.stringify(asked),
    changes.actor ?? null,
    changes.tenant,
    changes.traceparent ?? null,
    changes.ring ?? false,
  ]);
  return row !== undefined;
}

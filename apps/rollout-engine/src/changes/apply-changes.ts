import { type Queryable, runOne } from "@harrier/db";
import type { GroupChange, RolloutChange } from "../domain/changes.ts";
import type { RolloutStatus } from "../domain/facts.ts";
import { applyChangesStatement, type RequestedChange } from "./apply-changes.sql.ts";

export interface Changes {
  tenantId: number;
  /** The events carry this canonical name. */
  tenant: string;
  rolloutId: number;
  /** Nothing happens unless the rollout has one of these statuses. */
  expected: readonly RolloutStatus[];
  /** Nothing happens unless the rollout has this epoch; absent, it may have any. */
  epoch?: number;
  groups: readonly GroupChange[];
  rollout?: RolloutChange;
  /** The engine acts where no actor is given. */
  actor?: string;
  traceparent?: string | undefined;
  /** Whether the engine is woken; a change by the engine itself needs no waking. */
  notify?: boolean;
}

/** Changes statuses with their events, in one round trip. Answers false if the rollout is no longer as expected. */
export async function applyChanges(db: Queryable, changes: Changes): Promise<boolean> {
  const { tenantId, rolloutId, expected, groups, rollout } = changes;
  const requested: RequestedChange[] = groups.map((group, n) => ({
    n,
    groupId: group.id,
    from: group.from,
    to: group.to ?? null,
    requestStart: group.requestStart ?? false,
    reason: null,
    causedBy: null,
    value: null,
    limit: null,
    decidedBy: null,
    remark: null,
  }));
  if (rollout) {
    const { from = null, to, reason = null, groupId: causedBy = null, measured, decision } = rollout;
    const compared = { value: measured?.value ?? null, limit: measured?.limit ?? null };
    const decided = { decidedBy: decision?.by ?? null, remark: decision?.remark ?? null };
    requested.push({ n: requested.length, groupId: null, from, to, requestStart: false, reason, causedBy, ...compared, ...decided });
  }
  const row = await runOne(db, applyChangesStatement, [
    tenantId,
    rolloutId,
    expected,
    changes.epoch ?? null,
    JSON.stringify(requested),
    changes.actor ?? null,
    changes.tenant,
    changes.traceparent ?? null,
    changes.notify ?? false,
  ]);
  return row !== undefined;
}

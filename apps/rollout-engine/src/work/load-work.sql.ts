import { type FrozenSafety, type MaintenanceWindow, quotaDefaults } from "@harrier/contracts";
import { statement } from "@harrier/db";
import type { BucketCounts, GroupFacts, RolloutStatus } from "../domain/facts.ts";

/** The engine reads a group in this form: the facts that decide, and how far the work has come. */
export interface GroupWork extends GroupFacts {
  name: string;
  confirmationRequired: boolean;
  scheduleCursor: number;
  startCursor: number;
  /** A dynamic group has the ordinal of its newest member here. */
  lastOrdinal: number;
}

/** One step of a rollout needs all of this. */
export interface RolloutWork {
  tenantId: number;
  tenant: string;
  /** The tenant is neither suspended nor being deleted. */
  tenantActive: boolean;
  rolloutId: number;
  name: string;
  status: RolloutStatus;
  startAt: number | null;
  epoch: number;
  fencedEpoch: number;
  dynamic: boolean;
  maxGroups: number;
  createdBy: string;
  lastModifiedBy: string;
  /** A stop leaves started actions alone. */
  keepRunning: boolean;
  /** The stop has come this far. */
  stopCursor: number;
  set: { id: number; name: string; version: string; typeId: number; migrationStep: boolean };
  forceType: number;
  forceTime: number;
  weight: number;
  maintenanceWindow: MaintenanceWindow | null;
  safety: FrozenSafety | null;
  groups: GroupWork[];
  progress: ({ groupId: number } & BucketCounts)[];
}

const groupQuota = "ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT";

/** Reads a rollout, its groups and their progress in one snapshot, because they are evaluated together. */
export const loadWork = statement<[tenantId: number, rolloutId: number], RolloutWork>(
  "rollout_engine.load_work",
  `select r.tenant_id as "tenantId", t.name as tenant, t.status = 'active' as "tenantActive", r.id as "rolloutId", r.name, r.status,
          floor(extract(epoch from r.start_at) * 1000)::bigint as "startAt",
          r.epoch, r.fenced_epoch as "fencedEpoch", r.dynamic,
          coalesce((select q.value from management.tenant_quotas_v1 q where q.tenant_id = r.tenant_id and q.key = '${groupQuota}'),
                   ${quotaDefaults[groupQuota]}) as "maxGroups",
          r.created_by as "createdBy", r.last_modified_by as "lastModifiedBy",
          r.keep_running as "keepRunning", r.stop_cursor as "stopCursor",
          json_build_object('id', r.set_id, 'name', r.set_name, 'version', r.set_version, 'typeId', r.set_type_id,
                            'migrationStep', r.migration_step) as set,
          r.force_type as "forceType", r.force_time as "forceTime", r.weight, r.maintenance_window as "maintenanceWindow", r.safety,
          (select coalesce(json_agg(json_build_object(
                    'id', g.id, 'name', g.name, 'status', g.status, 'totalTargets', g.total_targets, 'allStarted', g.started,
                    'startRequested', g.start_requested, 'successExpression', g.success_expression, 'successAction', g.success_action,
                    'errorExpression', g.error_expression, 'confirmationRequired', g.confirmation_required,
                    'scheduleCursor', g.schedule_cursor, 'startCursor', g.start_cursor, 'dynamic', g.dynamic,
                    'targetCount', coalesce(g.target_count, 0), 'lastOrdinal', g.last_ordinal,
                    'lags', g.dynamic and g.schedule_cursor < g.last_ordinal)
                  order by g.position), '[]')
             from rollout_groups g where g.tenant_id = r.tenant_id and g.rollout_id = r.id) as groups,
          (select coalesce(json_agg(json_build_object(
                    'groupId', p.group_id, 'scheduled', p.scheduled, 'running', p.running, 'finished', p.finished, 'error', p.error,
                    'cancelled', p.cancelled, 'proving', p.proving, 'silent', p.silent, 'retrying', p.retrying)), '[]')
             from controller.group_progress_v1 p where p.tenant_id = $1 and p.rollout_id = $2) as progress
     from rollouts r join management.tenants_v1 t on t.tenant_id = r.tenant_id
    where r.tenant_id = $1 and r.id = $2`,
);

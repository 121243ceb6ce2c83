import { statement } from "@harrier/db";

/** What the workers would find if they looked now. */
export interface DueWork {
  /** Actions of rollouts have changed since the last notification (`notifyForProgress`). */
  progress: boolean;
  /** Targets or actions have changed since the last notification (`notifyForFleet`). */
  fleet: boolean;
  rollouts: boolean;
  autoAssignments: boolean;
  dynamicRollouts: boolean;
  /** A report of a device may begin the next group of a rollout. */
  running: boolean;
  /** Devices, or the clock, may make work due at any moment: a rollout is under way, a start is near, or a filter assigns its set. */
  expected: boolean;
}

/** The leases of a suspended tenant stay due and are not claimed (work/leases.sql.ts). */
const dueIn = (leases: string): string =>
  `exists (select from ${leases} l join management.tenants_v1 t on t.tenant_id = l.tenant_id
            where l.due_at <= now() and (l.until is null or l.until <= now()) and t.status = 'active')`;

/** The condition of the index `rollouts_under_way`. */
const underWay = "status not in ('ready', 'waiting_for_approval', 'approval_denied', 'finished', 'stopped', 'deleted')";

/** Looks for everything that any worker waits for, in one round trip that writes nothing; each part ends at the first row that it finds. */
export const findDueWork = statement<[], DueWork>(
  "rollout_engine.find_due_work",
  `select exists (select from controller.group_changes_v1 g
                   where (g.txid, g.id) > ((select seen_txid from progress_cursor), (select seen_id from progress_cursor)))
            or exists (select from controller.group_changes_v1 g
                        where (g.txid, g.id) > ((select txid from progress_cursor), (select id from progress_cursor))
                          and g.txid < pg_snapshot_xmin(pg_current_snapshot())) as progress,
          exists (select from controller.fleet_changes_v1 f
                   where (f.txid, f.id) > ((select txid from fleet_cursor), (select id from fleet_cursor))) as fleet,
          ${dueIn("leases")} as rollouts,
          ${dueIn("auto_assign_leases")} as "autoAssignments",
          ${dueIn("(select d.* from dynamic_leases d join rollouts r on r.tenant_id = d.tenant_id and r.id = d.rollout_id where r.dynamic and r.status = 'running')")}
            as "dynamicRollouts",
          exists (select from rollouts r join management.tenants_v1 t using (tenant_id)
                   where r.${underWay} and r.status in ('starting', 'running') and t.status = 'active') as running,
          exists (select from leases join management.tenants_v1 t using (tenant_id)
                   where due_at < now() + interval '1 minute' and t.status = 'active')
            or exists (select from auto_assign_leases where due_at < 'infinity')
            or exists (select from rollouts where ${underWay})
            as expected`,
);

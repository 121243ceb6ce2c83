import type { FrozenSafety, MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";
import type { RolloutStatus } from "../domain/facts.ts";

/** A retry takes this over from the earlier rollout; the conditions are those of its first group. */
export interface FinishedRollout {
  status: RolloutStatus;
  name: string;
  description: string | null;
  setId: number;
  forceType: number;
  forceTime: number;
  maintenanceWindow: MaintenanceWindow | null;
  successExpression: string;
  successAction: "NEXTGROUP" | "PAUSE";
  successActionExpression: string;
  errorExpression: string;
  errorActionExpression: string;
  safety: FrozenSafety | null;
}

/** Reads a rollout that has not been deleted, with its first group. */
export const findFinished = statement<[tenantId: number, id: number], FinishedRollout>(
  "rollout_engine.find_finished_rollout",
  `select r.status, r.name, r.description, r.set_id as "setId", r.force_type as "forceType", r.force_time as "forceTime",
          r.maintenance_window as "maintenanceWindow", g.success_expression as "successExpression", g.success_action as "successAction",
          g.success_action_expression as "successActionExpression", g.error_expression as "errorExpression",
          g.error_action_expression as "errorActionExpression", r.safety
     from rollouts r
     join rollout_groups g on g.tenant_id = r.tenant_id and g.rollout_id = r.id and g.position = 0
    where r.tenant_id = $1 and r.id = $2 and not r.deleted`,
);

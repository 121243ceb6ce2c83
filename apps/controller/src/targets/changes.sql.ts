import { statement } from "@harrier/db";

export type TargetChange = "addTag" | "removeTag" | "setType" | "requestAttributes";

/** What is done to the actions and confirmations of targets, rather than to the targets. */
export type TargetActionChange = "cancelActions" | "activateAutoConfirm";

export interface ChangedRow {
  outcome: "ok" | "tagNotFound" | "typeNotFound";
  reached: number[] | null;
  changed: number;
}

/** Changes targets by their ids, in one statement and commit, together with their events, which make filters look again. */
export const changeTargets = statement<
  [tenantId: number, ids: number[], change: TargetChange, value: number | null, scope: number[] | null, by: string],
  ChangedRow
>("controller.change_targets_by_id", "select outcome, reached, changed from change_targets_by_id($1, $2::int[], $3, $4, $5::bigint[], $6)");

type BulkValues = [tenantId: number, tenant: string, ids: number[], scope: number[] | null, by: string, traceparent: string | null];

/** Changes actions and confirmations of targets by the ids of these (functions/target-bulk.sql), each in one statement and commit. */
export const changeActionsOfTargets = {
  cancelActions: statement<BulkValues, Omit<ChangedRow, "outcome">>(
    "controller.cancel_actions_of_targets",
    "select reached, changed from cancel_actions_of_targets($1, $2, $3::int[], $4::bigint[], $5, $6)",
  ),
  activateAutoConfirm: statement<BulkValues, Omit<ChangedRow, "outcome">>(
    "controller.activate_auto_confirm_of_targets",
    "select reached, changed from activate_auto_confirm_of_targets($1, $2, $3::int[], $4::bigint[], $5, $6)",
  ),
};

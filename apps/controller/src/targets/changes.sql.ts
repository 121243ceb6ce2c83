import { statement } from "@harrier/db";

export type TargetChange = "addTag" | "removeTag" | "setType" | "requestAttributes";

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

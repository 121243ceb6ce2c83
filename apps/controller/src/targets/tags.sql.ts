import { statement } from "@harrier/db";

export interface ChangeTagRow {
  outcome: "ok" | "tagNotFound" | "targetNotFound";
  /** The first of those that do not exist, or that the caller does not see. */
  missing: string[] | null;
}

export const changeTargetTag = statement<
  [tenantId: number, tagId: number, controllerIds: string[], scope: number[] | null, assign: boolean, onlyAll: boolean],
  ChangeTagRow
>("controller.change_target_tag", "select outcome, missing from change_target_tag($1, $2, $3::text[], $4::bigint[], $5, $6)");

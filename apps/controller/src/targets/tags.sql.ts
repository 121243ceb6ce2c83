import { statement } from "@harrier/db";
import { notifying } from "../domain/change-feed.sql.ts";

export interface ChangeTagRow {
  outcome: "ok" | "tagNotFound" | "targetNotFound";
  /** The first of those that do not exist, or that the caller does not see. */
  missing: string[] | null;
}

export const changeTargetTag = statement<
  [tenantId: number, tagId: number, controllerIds: string[], scope: number[] | null, assign: boolean, onlyAll: boolean],
  ChangeTagRow
>(
  "controller.change_target_tag",
  // A missing target prevents the change of the others only where all were requested.
  notifying(
    "select outcome, missing from change_target_tag($1, $2, $3::text[], $4::bigint[], $5, $6)",
    "cardinality($3::text[]) > 0 and (outcome = 'ok' or (outcome = 'targetNotFound' and not $6))",
  ),
);

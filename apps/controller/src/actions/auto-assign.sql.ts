import { statement } from "@harrier/db";
import { autoclose, confirmationFlow } from "../settings/present-settings.sql.ts";
import type { WindowValues } from "./windows.ts";

/** Counts the candidates that a chunk will read, at most `limit`. */
export const countCandidates = statement<[tenantId: number, filterId: number, pass: number, cursor: number, limit: number], { n: number }>(
  "controller.count_candidates",
  `select count(*)::int as n
     from (select from rollout_engine.auto_assign_candidates_v1
            where tenant_id = $1 and filter_id = $2 and pass = $3 and target_id > $4 order by target_id limit $5) c`,
);

export interface AutoAssignedRow {
  fenced: boolean;
  cursor: number;
  done: boolean;
  created: number;
}

export const autoAssignChunk = statement<
  [
    tenantId: number,
    tenant: string,
    filterId: number,
    epoch: number,
    pass: number,
    cursor: number,
    limit: number,
    firstId: number,
    setId: number,
    setName: string,
    setVersion: string,
    setType: number,
    migrationStep: boolean,
    forceType: number,
    weight: number,
    ...window: WindowValues,
    confirmationRequired: boolean,
    maxActions: number,
    initiator: string,
    message: string,
    traceparent: string | null,
    safety: string | null,
    types: number[],
    typeSafeties: string[],
  ],
  AutoAssignedRow
>(
  "controller.auto_assign_chunk",
  `select * from auto_assign_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
                                   ${autoclose}, ${confirmationFlow}, $22, $23, $24, $25, $26::bigint[], $27::text[])`,
);

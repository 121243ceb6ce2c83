import { statement } from "@harrier/db";
import type { Outcome } from "../domain/transitions.ts";

/** Records one report by the SQL function that the transition table generates, which decides it too (functions/report.sql). */
export const callReport = statement<
  [
    tenantId: number,
    controllerId: string,
    actionId: number,
    channel: number,
    execution: number,
    result: number,
    code: number | null,
    messages: readonly string[],
    occurredAtMs: number,
    maxEntries: number,
    maxMessages: number,
    tenant: string,
    traceparent: string | null,
  ],
  { outcome: Outcome }
>(
  "controller.report",
  `select report($1, $2, $3, $4::smallint, $5::smallint, $6::smallint, $7, $8, to_timestamp($9::float8 / 1000), $10, $11, $12, $13) as outcome`,
);

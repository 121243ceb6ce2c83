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

/** Records several reports in one transaction and returns their outcomes in order; a `busy` one has had no effect and has to be recorded alone. */
export const callRecordReports = statement<
  [
    tenantIds: readonly number[],
    controllerIds: readonly string[],
    actionIds: readonly number[],
    channels: readonly number[],
    executions: readonly number[],
    results: readonly number[],
    codes: readonly (number | null)[],
    messages: readonly string[],
    messageCounts: readonly number[],
    occurredAtMs: readonly number[],
    maxEntries: readonly number[],
    maxMessages: readonly number[],
    tenants: readonly string[],
    traceparents: readonly (string | null)[],
  ],
  { outcomes: (Outcome | "busy")[] }
>(
  "controller.record_reports",
  `select record_reports($1, $2, $3, $4::smallint[], $5::smallint[], $6::smallint[], $7, $8, $9, $10, $11, $12, $13, $14) as outcomes`,
);

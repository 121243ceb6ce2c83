import { statement } from "@harrier/db";

export type RunningVersionOutcome =
  | "created"
  | "unchanged"
  | "idNeeded"
  | "targetNotFound"
  | "setNotFound"
  | "setInvalid"
  | "setIncomplete"
  | "tooManyActions";

/**
 * Records what a device reports as running; without an id of an action it only returns whether one is needed
 * (functions/running-version.sql).
 */
export const callReportRunningVersion = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    name: string,
    version: string,
    actionId: number | null,
    maxActions: number,
    by: string,
    traceparent: string | null,
  ],
  { outcome: RunningVersionOutcome }
>("controller.report_running_version", "select report_running_version($1, $2, $3, $4, $5, $6, $7, $8, $9) as outcome");

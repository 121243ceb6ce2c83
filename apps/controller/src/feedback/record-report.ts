import { type Queryable, runOne } from "@harrier/db";
import type { Outcome } from "../domain/transitions.ts";
import { alone, type Gathered, gather } from "../gather.ts";
import { callRecordReports, callReport } from "./report.sql.ts";

/** One report as SQL takes it; numbers are places in the lists of domain/transitions.ts. */
export interface StorableReport {
  tenantId: number;
  controllerId: string;
  actionId: number;
  channel: number;
  execution: number;
  result: number;
  code: number | null;
  messages: readonly string[];
  occurredAtMs: number;
  /** 0 or less means no limit, for `maxMessages` too. */
  maxEntries: number;
  maxMessages: number;
  tenant: string;
  traceparent: string | null;
}

export type RecordReport = Gathered<StorableReport, Outcome>;

/** A report that waits for the lock of its target does so on a connection of its own; the others are shared. */
const maxStatements = 4;

/** Makes the writer of reports: those that arrive at the same moment share a transaction, and the error of one is never the error of another. */
export function createReportRecorder(db: Queryable, now: () => number = () => performance.now()): RecordReport {
  return gather<StorableReport, Outcome>({
    now,
    maxStatements,
    async one(r) {
      const row = await runOne(db, callReport, [
        r.tenantId,
        r.controllerId,
        r.actionId,
        r.channel,
        r.execution,
        r.result,
        r.code,
        r.messages,
        r.occurredAtMs,
        r.maxEntries,
        r.maxMessages,
        r.tenant,
        r.traceparent,
      ]);
      return row?.outcome ?? "targetNotFound";
    },
    async many(reports) {
      const row = await runOne(db, callRecordReports, [
        reports.map((r) => r.tenantId),
        reports.map((r) => r.controllerId),
        reports.map((r) => r.actionId),
        reports.map((r) => r.channel),
        reports.map((r) => r.execution),
        reports.map((r) => r.result),
        reports.map((r) => r.code),
        reports.flatMap((r) => r.messages),
        reports.map((r) => r.messages.length),
        reports.map((r) => r.occurredAtMs),
        reports.map((r) => r.maxEntries),
        reports.map((r) => r.maxMessages),
        reports.map((r) => r.tenant),
        reports.map((r) => r.traceparent),
      ]);
      return (row?.outcomes ?? []).map((outcome) => (outcome === "busy" ? alone : outcome));
    },
  });
}

import { statement } from "@harrier/db";

export interface StoppedRow {
  fenced: boolean;
  cursor: number;
  done: boolean;
  removed: number;
  canceled: number;
}

export const stopChunk = statement<
  [
    tenantId: number,
    tenant: string,
    rolloutId: number,
    cursor: number,
    limit: number,
    cancel: boolean,
    force: boolean,
    by: string,
    traceparent: string | null,
  ],
  StoppedRow
>("controller.stop_chunk", "select * from stop_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9)");

export interface CanceledRow {
  cursor: number;
  done: boolean;
  canceled: number;
}

export const cancelSetChunk = statement<
  [tenantId: number, tenant: string, setId: number, cursor: number, limit: number, force: boolean, by: string, traceparent: string | null],
  CanceledRow
>("controller.cancel_set_chunk", "select * from cancel_set_chunk($1, $2, $3, $4, $5, $6, $7, $8)");

import { statement } from "@harrier/db";

/** Merges, replaces or removes attributes, clears the request for them, and returns what has changed (functions/config-data.sql). */
export const callPutAttributes = statement<
  [
    tenantId: number,
    controllerId: string,
    mode: number,
    keys: string[],
    values: (string | null)[],
    maxEntries: number,
    tenant: string,
    traceparent: string | null,
  ],
  { outcome: "ok" | "targetNotFound" | "tooManyEntries" }
>("controller.put_attributes", "select put_attributes($1, $2, $3::smallint, $4, $5, $6, $7, $8) as outcome");

import { statement } from "@harrier/db";
import { ringing } from "../domain/bell.sql.ts";

/** All entries or none; with `taken` or `tooMany` nothing is stored. */
export const addTargetMetadata = statement<
  [
    tenantId: number,
    commandId: string,
    controllerId: string,
    keys: string[],
    values: (string | null)[],
    most: number,
    scope: number[] | null,
    by: string,
  ],
  { outcome: "ok" | "targetNotFound" | "taken" | "tooMany" }
>(
  "controller.add_target_metadata",
  ringing("select add_target_metadata($1, $2, $3, $4::text[], $5::text[], $6, $7::bigint[], $8) as outcome", "outcome = 'ok'"),
);

export const changeTargetMetadata = statement<
  [tenantId: number, controllerId: string, key: string, value: string | null, remove: boolean, scope: number[] | null, by: string],
  { outcome: "ok" | "targetNotFound" | "keyNotFound"; value: string | null }
>(
  "controller.change_target_metadata",
  ringing("select outcome, value from change_target_metadata($1, $2, $3, $4, $5, $6::bigint[], $7)", "outcome = 'ok'"),
);

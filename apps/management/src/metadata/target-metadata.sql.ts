import { statement } from "@harrier/db";
import { inScope, type PageSource, type Scope } from "@harrier/query";
import type { MetadataRow } from "./metadata.sql.ts";

const target = `select g.id from controller.targets_v1 g
  where g.tenant_id = $1 and g.controller_id = $3 and ${inScope("g.target_type_id", "$2")}`;

/** Lists the entries of a target; `known` is true when the target exists within the scope. */
export const metadataOfTarget = (tenantId: number, scope: Scope, controllerId: string): PageSource => ({
  from: "controller.target_metadata_v1",
  columns: { key: "t.key", value: "t.value" },
  where: `t.tenant_id = $1 and t.target_id = (${target})`,
  values: [tenantId, scope, controllerId],
  known: `exists (${target})`,
});

/** Reads one entry: a target without it gives one row with no key, an unknown target none. */
export const findTargetMetadata = statement<
  [tenantId: number, scope: Scope, controllerId: string, key: string],
  MetadataRow | { key: null }
>(
  "management.find_target_metadata",
  `select m.key, m.value
     from (${target}) t left join controller.target_metadata_v1 m on m.tenant_id = $1 and m.target_id = t.id and m.key = $4`,
);

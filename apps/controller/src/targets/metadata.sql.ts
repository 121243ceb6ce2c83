import { statement } from "@harrier/db";

/** Adds all entries or none; with `taken` or `tooMany` nothing is stored. */
export const addTargetMetadata = statement<
  [
    tenantId: number,
    commandId: string,
    controllerId: string,
    keys: string[],
    values: (string | null)[],
    max: number,
    scope: number[] | null,
    by: string,
  ],
  { outcome: "ok" | "targetNotFound" | "taken" | "tooMany" }
>("controller.add_target_metadata", "select add_target_metadata($1, $2, $3, $4::text[], $5::text[], $6, $7::bigint[], $8) as outcome");

/** Does the same as `addTargetMetadata`, but overwrites existing entries; each key comes once. */
export const putTargetMetadata: typeof addTargetMetadata = statement(
  "controller.put_target_metadata",
  "select put_target_metadata($1, $2, $3, $4::text[], $5::text[], $6, $7::bigint[], $8) as outcome",
);

/** Finds those of some keys that a target has. */
export const findTakenKeys = statement<[tenantId: number, controllerId: string, keys: string[]], { key: string }>(
  "controller.find_taken_metadata_keys",
  `select m.key from target_metadata m join targets t on t.tenant_id = m.tenant_id and t.id = m.target_id
    where t.tenant_id = $1 and t.controller_id = $2 and m.key = any ($3::text[]) order by m.key limit 1`,
);

export const changeTargetMetadata = statement<
  [tenantId: number, controllerId: string, key: string, value: string | null, remove: boolean, scope: number[] | null, by: string],
  { outcome: "ok" | "targetNotFound" | "keyNotFound"; value: string | null }
>("controller.change_target_metadata", "select outcome, value from change_target_metadata($1, $2, $3, $4, $5, $6::bigint[], $7)");

/** Locks a target as the writers of its metadata do; no row: it is not there, or not within the scope. */
export const lockTargetForMetadata = statement<[tenantId: number, controllerId: string, scope: number[] | null], { id: number }>(
  "controller.lock_target_for_metadata",
  `select t.id from targets t
    where t.tenant_id = $1 and t.controller_id = $2 and ($3::bigint[] is null or t.target_type_id = any ($3::bigint[])) for no key update`,
);

/** Reads the value of one entry of a target, which may be null; no row: the target has no such entry. */
export const findTargetMetadata = statement<[tenantId: number, targetId: number, key: string], { value: string | null }>(
  "controller.find_target_metadata",
  "select m.value from target_metadata m where m.tenant_id = $1 and m.target_id = $2 and m.key = $3",
);

import { statement } from "@harrier/db";

export interface CreateAnswer {
  outcome: "ok" | "typeNotFound" | "quota";
  ids?: number[];
  type?: number;
}

/** These lists have the same length, with one place for each target. */
export type NewTargets = [
  tenantId: number,
  tenant: string,
  commandId: string,
  firstId: number,
  controllerIds: string[],
  names: string[],
  descriptions: (string | null)[],
  addresses: (string | null)[],
  digests: Buffer[],
  ciphers: Buffer[],
  types: (number | null)[],
  by: string,
  traceparent: string | null,
  max: number,
  groups: (string | null)[],
];

export const createTargets = statement<NewTargets, { answer: CreateAnswer }>(
  "controller.create_targets",
  `select create_targets($1, $2, $3, $4, $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::bytea[], $11::bigint[],
                         $12, $13, $14, $15::text[]) as answer`,
);

/**
 * Declines attributes of targets that have just been created: `ids` are theirs, `controllerIds` those that are meant. A repeated command does it
 * again.
 */
export const declineAttributes = statement<[tenantId: number, controllerIds: string[], ids: number[]], unknown>(
  "controller.decline_attributes",
  `update target_state s set request_attributes = false, revision = s.revision + 1
     from targets t
    where t.tenant_id = $1 and t.controller_id = any ($2::text[]) and t.id = any ($3::int[])
      and s.tenant_id = t.tenant_id and s.target_id = t.id and s.request_attributes`,
);

export interface TokenRow {
  id: number;
  controllerId: string;
  cipher: Buffer;
}

export const readTokensById = statement<[tenantId: number, ids: number[]], TokenRow>(
  "controller.read_tokens_by_id",
  `select id, controller_id as "controllerId", token_cipher as cipher from targets
    where tenant_id = $1 and id = any ($2::int[]) order by id`,
);

export const readTokens = statement<[tenantId: number, controllerIds: string[], scope: number[] | null], TokenRow>(
  "controller.read_tokens",
  `select id, controller_id as "controllerId", token_cipher as cipher from targets
    where tenant_id = $1 and controller_id = any ($2::text[]) and ($3::bigint[] is null or target_type_id = any ($3::bigint[]))`,
);

export const updateTarget = statement<
  [
    tenantId: number,
    controllerId: string,
    name: string | null,
    description: string | null,
    address: string | null,
    digest: Buffer | null,
    cipher: Buffer | null,
    requestAttributes: boolean | null,
    type: number | null,
    scope: number[] | null,
    by: string,
    group: string | null,
  ],
  { outcome: "ok" | "targetNotFound" | "typeNotFound" }
>("controller.update_target", "select update_target($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::bigint[], $11, $12) as outcome");

/**
 * Locks a target for a change that demands a revision, its state first, as every change does that locks both. Who waits here for another change reads
 * the revision that it has left.
 */
export const lockTarget = statement<[tenantId: number, controllerId: string, scope: number[] | null], { revision: number }>(
  "controller.lock_target",
  `with state as materialized (
     select s.tenant_id, s.target_id from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
      where t.tenant_id = $1 and t.controller_id = $2 and ($3::bigint[] is null or t.target_type_id = any ($3::bigint[])) for no key update of s)
   select t.revision from state s join targets t on t.tenant_id = s.tenant_id and t.id = s.target_id for no key update of t`,
);

export const deleteTargets = statement<
  [tenantId: number, tenant: string, controllerIds: string[], scope: number[] | null, by: string, traceparent: string | null],
  { deleted: number }
>("controller.delete_targets", `select delete_targets($1, $2, $3::text[], $4::bigint[], $5, $6) as deleted`);

/** Deletes by internal ids, which are never assigned twice. */
export const deleteTargetsById = statement<
  [tenantId: number, tenant: string, ids: number[], scope: number[] | null, by: string, traceparent: string | null],
  { deleted: number }
>("controller.delete_targets_by_id", `select delete_targets_by_id($1, $2, $3::int[], $4::bigint[], $5, $6) as deleted`);

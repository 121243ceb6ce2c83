import type { RelationField, ScalarField } from "./fields.ts";

// Relations that several maps share. `t` is always the base alias; every join carries the tenant.

const text = (column: string): ScalarField => ({ kind: "text", column });
const number = (column: string): ScalarField => ({ kind: "number", column });

/** A distribution set by the base column that holds its id; unlike a set's own list it finds soft-deleted sets too. */
export const setRelation = (idColumn: string): RelationField => ({
  kind: "toOne",
  from: "management.distribution_sets_v1 ds",
  on: `ds.tenant_id = t.tenant_id and ds.id = ${idColumn}`,
  fields: { id: number("ds.id"), name: text("ds.name"), version: text("ds.version"), type: text("ds.type_key") },
});

/** A type (of sets, modules or targets) by the base column `type_id`; the bare name means the key (§6.4). */
export const typeRelation = (view: string, idColumn: string): RelationField => ({
  kind: "toOne",
  from: `${view} ty`,
  on: `ty.tenant_id = t.tenant_id and ty.id = ${idColumn}`,
  fields: { id: number("ty.id"), key: text("ty.key"), name: text("ty.name") },
  bare: "key",
});

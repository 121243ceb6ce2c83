import type { MapField, RelationField, ScalarField } from "./fields.ts";

// Relations that several maps share. `t` is always the base alias; every join includes the tenant.

const text = (column: string): ScalarField => ({ kind: "text", column });
const number = (column: string): ScalarField => ({ kind: "number", column });

/** Makes the relation to a distribution set by the base column that holds its id; unlike a set's own list it finds soft-deleted sets too. */
export const setRelation = (idColumn: string): RelationField => ({
  kind: "toOne",
  from: "management.distribution_sets_v1 ds",
  on: `ds.tenant_id = t.tenant_id and ds.id = ${idColumn}`,
  fields: { id: number("ds.id"), name: text("ds.name"), version: text("ds.version"), type: text("ds.type_key") },
  byId: { from: "management.distribution_sets_v1 ds", alias: "ds", related: (ids) => `${idColumn} = any(${ids})` },
});

/**
 * Makes the relation to a type (of sets, modules or targets) by the base column `type_id`; the bare name means the key (contract management.md
 * §6.4).
 */
export const typeRelation = (view: string, idColumn: string): RelationField => ({
  kind: "toOne",
  from: `${view} ty`,
  on: `ty.tenant_id = t.tenant_id and ty.id = ${idColumn}`,
  fields: { id: number("ty.id"), key: text("ty.key"), name: text("ty.name") },
  bare: "key",
  byId: { from: `${view} ty`, alias: "ty", related: (ids) => `${idColumn} = any(${ids})` },
});

/** The entity on the other side of a table of links, by its own id: `owner` is the column of the links that holds the base's id. */
export interface Links {
  view: string;
  owner: string;
}

/**
 * Makes the relation to tags by their links `(tenant_id, owner, tag_id)` and the rows of their names; the bare name means the tag's name (contract
 * management.md §6.4).
 */
export const tagRelation = (links: Links, tags: string): RelationField => ({
  kind: "toMany",
  from: `${links.view} tl join ${tags} tg on tg.tenant_id = tl.tenant_id and tg.id = tl.tag_id`,
  on: `tl.tenant_id = t.tenant_id and tl.${links.owner} = t.id`,
  fields: { id: number("tg.id"), name: text("tg.name") },
  bare: "name",
  byId: {
    from: `${tags} tg`,
    alias: "tg",
    related: (ids) =>
      `exists (select 1 from ${links.view} tl where tl.tenant_id = t.tenant_id and tl.${links.owner} = t.id and tl.tag_id = any(${ids}))`,
  },
});

/** Makes a map of attributes or metadata: one row `(tenant_id, owner, key, value)` per entry. */
export const entries = ({ view, owner }: Links, value?: { head: string }): MapField => ({
  kind: "map",
  from: `${view} e`,
  on: `e.tenant_id = t.tenant_id and e.${owner} = t.id`,
  key: "e.key",
  value: "e.value",
  ...value,
});

/** It is for values that are too long for an index (see `target_metadata` in controller's migrations). */
export const longValue = { head: "left(lower(e.value), 200)" };

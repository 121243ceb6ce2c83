import type { QuotaKey } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { type Columns, type PageSource, selectList } from "@harrier/query";
import { limitSql } from "../quotas/limits.sql.ts";
import { bumpSets } from "../rows/set-revision.ts";

/** This is a metadata entry; an entry of a module also says whether targets may see it. */
export interface MetadataRow {
  key: string;
  value: string | null;
  targetVisible?: boolean | undefined;
}

/** This is the owner of metadata, with its entry where there is one. */
export interface OwnedEntry extends Omit<MetadataRow, "key"> {
  deleted: boolean;
  valid: boolean;
  /** Null means that there is no such entry. */
  key: string | null;
}

/** This describes one kind of owner of metadata; all of its SQL comes from this file. */
interface Kind {
  name: "module" | "set";
  quota: QuotaKey;
  owners: string;
  entries: string;
  ownerId: string;
  /** This condition says whether the owner `o` may still be installed; it is always true of modules. */
  valid: string;
  /** This condition says whether metadata of the owner `o` may be changed. */
  open: string;
  /** These are the columns beside the key and the value: SQL over an entry `t`, and the same out of a JSON object `x`. */
  more: Columns;
  given: readonly { column: string; inserted: string; changed: string }[];
  /** This says what else changes with the metadata. */
  moved: string;
}

const module: Kind = {
  name: "module",
  quota: "METADATA_PER_SOFTWARE_MODULE_MAX_COUNT",
  owners: "software_modules",
  entries: "module_metadata",
  ownerId: "module_id",
  valid: "true",
  open: "true",
  more: { targetVisible: "t.target_visible" },
  given: [
    {
      column: "target_visible",
      inserted: `coalesce((x ->> 'targetVisible')::boolean, false)`,
      changed: `coalesce(($4::jsonb ->> 'targetVisible')::boolean, t.target_visible)`,
    },
  ],
  // Devices see these entries, and their documents are cached by the revision of the set.
  moved: `, ${bumpSets}`,
};

const set: Kind = {
  name: "set",
  quota: "METADATA_PER_DISTRIBUTION_SET_MAX_COUNT",
  owners: "distribution_sets",
  entries: "set_metadata",
  ownerId: "set_id",
  valid: "o.valid",
  open: "o.valid and not o.deleted",
  more: {},
  given: [],
  moved: "",
};

const touched = (actor: string) => `last_modified_by = ${actor}, last_modified_at = now(), revision = o.revision + 1`;

/** Writes entries while the owner is locked; only new entries count against the limit. */
function added({ quota, owners, entries, ownerId, given, moved }: Kind, { name, overwrite }: { name: string; overwrite: boolean }) {
  const put = ["key", "value", ...given.map((member) => member.column)];
  const kept = overwrite
    ? `on conflict (tenant_id, ${ownerId}, key) do update set ${put
        .slice(1)
        .map((column) => `${column} = excluded.${column}`)
        .join(", ")}`
    : "";
  const fresh = overwrite
    ? `(select count(*) from input i
          where not exists (select from ${entries} e where e.tenant_id = $1 and e.${ownerId} = $2 and e.key = i.x ->> 'key'))`
    : "(select count(*) from input)";
  return statement<[tenantId: number, owner: number, entries: string, actor: string], { stored: boolean; max: number }>(
    name,
    `with input as (select x from jsonb_array_elements($3::jsonb) as x),
       max as (select ${limitSql(quota)} as n),
       stored as (
         insert into ${entries} (${["tenant_id", ownerId, ...put].join(", ")})
         select ${["$1, $2, x ->> 'key', x ->> 'value'", ...given.map((member) => member.inserted)].join(", ")} from input cross join max m
          where m.n <= 0 or (select count(*) from ${entries} e where e.tenant_id = $1 and e.${ownerId} = $2) + ${fresh} <= m.n
         ${kept}
         returning ${ownerId}),
       changed as (
         update ${owners} o set ${touched("$4")}
          where o.tenant_id = $1 and o.id = $2 and exists (select from stored)
         returning o.id)${moved}
       select exists (select from changed) as stored, m.n as max from max m`,
  );
}

/**
 * Builds the statements on the metadata of one kind of owner. A change locks the owner first and then its entry, like a deletion of the
 * owner does; it updates the owner's audit members and revision (contract management.md §5.11).
 */
function statementsOf(kind: Kind) {
  const { name, owners, entries, ownerId } = kind;
  const columns: Columns = { key: "t.key", value: "t.value", ...kind.more };
  const taken = `update ${owners} o set ${touched("$5")}
      where o.tenant_id = $1 and o.id = $2 and ${kind.open}
        and exists (select from ${entries} e where e.tenant_id = $1 and e.${ownerId} = $2 and e.key = $3)
     returning o.id`;
  return {
    list: (tenantId: number, owner: number): PageSource => ({
      from: entries,
      columns,
      where: `t.tenant_id = $1 and t.${ownerId} = $2`,
      values: [tenantId, owner],
      known: `exists (select from ${owners} o where o.tenant_id = $1 and o.id = $2)`,
    }),

    /** Reads the owner with one of its entries; there is no row for an unknown owner. */
    find: statement<[tenantId: number, owner: number, key: string], OwnedEntry>(
      `management.find_${name}_metadata`,
      `select o.deleted, ${kind.valid} as valid, ${selectList(columns)}
         from ${owners} o left join ${entries} t on t.tenant_id = o.tenant_id and t.${ownerId} = o.id and t.key = $3
        where o.tenant_id = $1 and o.id = $2`,
    ),

    /** Locks the owner: additions to one owner run one after the other, so that the limit holds. */
    lock: statement<[tenantId: number, owner: number], { deleted: boolean; valid: boolean }>(
      `management.lock_${name}_for_metadata`,
      `select o.deleted, ${kind.valid} as valid from ${owners} o where o.tenant_id = $1 and o.id = $2 for no key update`,
    ),

    /** Inserts all entries of `[{key, value, …}]` or none: `stored` is false where there would be more than `max`; 0 or less means no limit. */
    insert: added(kind, { name: `management.insert_${name}_metadata`, overwrite: false }),
    /** Does the same as `insert`, but overwrites entries that exist. */
    upsert: added(kind, { name: `management.put_${name}_metadata`, overwrite: true }),

    /** Changes an entry; members that the change does not name stay. No row means that nothing was changed; `find` shows why. */
    update: statement<[tenantId: number, owner: number, key: string, change: string, actor: string], MetadataRow>(
      `management.update_${name}_metadata`,
      `with changed as (
         ${taken}),
       t as (
         update ${entries} t
            set ${["value = coalesce($4::jsonb ->> 'value', t.value)", ...kind.given.map((m) => `${m.column} = ${m.changed}`)].join(", ")}
           from changed c where t.tenant_id = $1 and t.${ownerId} = c.id and t.key = $3
         returning t.*)${kind.moved}
       select ${selectList(columns)} from t`,
    ),

    /** Deletes an entry. No row means that nothing was deleted; `find` shows why. */
    remove: statement<[tenantId: number, owner: number, key: string, actor: string], { key: string }>(
      `management.delete_${name}_metadata`,
      `with changed as (
         ${taken.replace("$5", "$4")}),
       gone as (
         delete from ${entries} t using changed c where t.tenant_id = $1 and t.${ownerId} = c.id and t.key = $3 returning t.key)${kind.moved}
       select key from gone`,
    ),
  };
}

export type MetadataStatements = ReturnType<typeof statementsOf>;
export const moduleMetadataStatements: MetadataStatements = statementsOf(module);
export const setMetadataStatements: MetadataStatements = statementsOf(set);

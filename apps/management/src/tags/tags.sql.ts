import { statement } from "@harrier/db";
import { type AuditRow, auditColumns, type Columns, isRevision, type PageSource, selectList } from "@harrier/query";

export interface TagRow extends AuditRow {
  id: number;
  name: string;
  description: string | null;
  colour: string | null;
  revision: number;
}

export const tagColumns: Columns = {
  id: "t.id",
  name: "t.name",
  description: "t.description",
  colour: "t.colour",
  revision: "t.revision",
  ...auditColumns("t"),
};

/** Tags of targets and tags of sets are stored alike, in separate tables. */
export type TagTable = "target_tags" | "distribution_set_tags";

export const tagList = (table: TagTable, tenantId: number): PageSource => ({
  from: table,
  columns: tagColumns,
  where: "t.tenant_id = $1",
  values: [tenantId],
});

/** Builds the statements over one of the tables. */
function statementsOf(table: TagTable) {
  const columns = selectList(tagColumns);
  return {
    find: statement<[tenantId: number, id: number], TagRow>(
      `management.find_${table}`,
      `select ${columns} from ${table} t where t.tenant_id = $1 and t.id = $2`,
    ),
    /** Inserts all tags of `[{id, name, description, colour}]` or, where a name is taken, none. */
    insert: statement<[tenantId: number, tags: string, actor: string], TagRow>(
      `management.insert_${table}`,
      `with t as (
         insert into ${table} (tenant_id, id, name, description, colour, created_by, last_modified_by)
         select $1, x.id, x.name, x.description, x.colour, $3, $3
           from jsonb_to_recordset($2::jsonb) as x(id bigint, name text, description text, colour text)
         returning *)
       select ${columns} from t order by t.id`,
    ),
    /** Updates a tag; members that are null stay as they are. */
    update: statement<
      [
        tenantId: number,
        id: number,
        name: string | null,
        description: string | null,
        colour: string | null,
        actor: string,
        ifMatch: readonly number[] | null,
      ],
      TagRow
    >(
      `management.update_${table}`,
      `with t as (
         update ${table} g
            set name = coalesce($3, g.name), description = coalesce($4, g.description), colour = coalesce($5, g.colour),
                last_modified_by = $6, last_modified_at = now(), revision = g.revision + 1
          where g.tenant_id = $1 and g.id = $2 and ${isRevision("g.revision", "$7")}
         returning g.*)
       select ${columns} from t`,
    ),
    delete: statement<[tenantId: number, id: number, ifMatch: readonly number[] | null], { id: number }>(
      `management.delete_${table}`,
      `delete from ${table} where tenant_id = $1 and id = $2 and ${isRevision("revision", "$3")} returning id`,
    ),
  };
}

export const tagStatements = {
  target_tags: statementsOf("target_tags"),
  distribution_set_tags: statementsOf("distribution_set_tags"),
} as const satisfies Record<TagTable, unknown>;

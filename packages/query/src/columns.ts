/** Selects the rows that a list shows (contract management.md §11); the alias of the list is `t`. */
export const softDeletedPredicate = {
  EXCLUDE_SOFT_DELETED: "not t.deleted",
  INCLUDE_SOFT_DELETED: "true",
  ONLY_SOFT_DELETED: "t.deleted",
} as const;

export type SoftDeletedMode = keyof typeof softDeletedPredicate;

/** SQL expressions by the camelCase name that they get in TypeScript. They are written once and used for rows and for nested objects. */
export type Columns = Readonly<Record<string, string>>;

/** Makes `expression as "name", …` for a select list. */
export function selectList(columns: Columns): string {
  return Object.entries(columns)
    .map(([name, expression]) => `${expression} as "${name}"`)
    .join(", ");
}

/** Makes one JSON object of the same columns, so that rows within a row need no second query. */
export function jsonObject(columns: Columns): string {
  return `jsonb_build_object(${Object.entries(columns)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(", ")})`;
}

/** Converts a timestamptz to epoch milliseconds, the only form of time outside SQL. */
export const epochMs = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

/** Selects who created a row and who changed it last (spec 001 §2). */
export const auditColumns = (alias: string): Columns => ({
  createdBy: `${alias}.created_by`,
  createdAt: epochMs(`${alias}.created_at`),
  lastModifiedBy: `${alias}.last_modified_by`,
  lastModifiedAt: epochMs(`${alias}.last_modified_at`),
});

export interface AuditRow {
  createdBy: string;
  createdAt: number;
  lastModifiedBy: string;
  lastModifiedAt: number;
}

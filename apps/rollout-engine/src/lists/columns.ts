/** A timestamptz as epoch milliseconds, the only form of time outside SQL. */
export const epochMs = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

/** Who made a row and who changed it last (spec 001 §2). */
export const auditColumns = `t.created_by as "createdBy", ${epochMs("t.created_at")} as "createdAt",
  t.last_modified_by as "lastModifiedBy", ${epochMs("t.last_modified_at")} as "lastModifiedAt"`;

export interface AuditRow {
  createdBy: string;
  createdAt: number;
  lastModifiedBy: string;
  lastModifiedAt: number;
}

import type { AuditRow } from "../rows/columns.ts";

/** The part of a request that answers depend on: where their links lead, and which dialect they speak. */
export interface View {
  /** Public address and base path that the request came in on. */
  base: string;
  surface: "spec" | "rest" | "device";
}

export interface Link {
  href: string;
  name?: string;
}

/** A member only where there is a value: null members are left out (contract management.md §1.2). */
export function optional<K extends string, V>(name: K, value: V | null | undefined): { [P in K]?: V } {
  return value === null || value === undefined ? {} : ({ [name]: value } as { [P in K]?: V });
}

/** The four audit members of a row. */
export function auditOf(row: AuditRow): AuditRow {
  return {
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    lastModifiedBy: row.lastModifiedBy,
    lastModifiedAt: row.lastModifiedAt,
  };
}

/** A query value inside a link, e.g. of `sort=id:DESC`. */
export const encoded = encodeURIComponent;

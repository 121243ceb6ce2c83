import type { AuditRow } from "./columns.ts";

/** Answers depend on this part of a request: where their links lead, and which dialect they use. */
export interface View {
  /** The public address and base path of the request. */
  base: string;
  surface: "spec" | "rest" | "device";
}

export interface Link {
  href: string;
  name?: string;
}

/** Makes a member only if there is a value, because null members are left out (contract management.md §1.2). */
export function optional<K extends string, V>(name: K, value: V | null | undefined): { [P in K]?: V } {
  return value === null || value === undefined ? {} : ({ [name]: value } as { [P in K]?: V });
}

/** Answers the four audit members of a row. */
export function auditOf(row: AuditRow): AuditRow {
  return {
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    lastModifiedBy: row.lastModifiedBy,
    lastModifiedAt: row.lastModifiedAt,
  };
}

/** Encodes a query value for a link, e.g. of `sort=id:DESC`. */
export const encoded = encodeURIComponent;

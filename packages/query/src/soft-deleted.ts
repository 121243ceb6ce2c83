/** Selects the rows that a list shows (contract management.md §11); the alias of the list is `t`. */
export const softDeletedPredicate = {
  EXCLUDE_SOFT_DELETED: "not t.deleted",
  INCLUDE_SOFT_DELETED: "true",
  ONLY_SOFT_DELETED: "t.deleted",
} as const;

export type SoftDeletedMode = keyof typeof softDeletedPredicate;

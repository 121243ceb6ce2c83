export {
  type AuditRow,
  auditColumns,
  type Columns,
  epochMs,
  jsonObject,
  type SoftDeletedMode,
  selectList,
  softDeletedPredicate,
} from "./columns.ts";
export { withConflicts, withRetries } from "./conflicts.ts";
export { csvRecord, escapeFormula, unescapeFormula } from "./csv.ts";
export { auditOf, encoded, type Link, optional, type View } from "./json.ts";
export { type ListDeps, type ListKind, type ListQuery, narrow, type Page, readPage } from "./list.ts";
export { readOpaque, writeOpaque } from "./opaque.ts";
export { nextStatement, type PageSource, pageStatement } from "./page.sql.ts";
export { type IfMatch, isRevision, requireRevision, unmatched } from "./precondition.ts";
export { inScope, isInScope, reachesOnly, type Scope, type Scoped, scopeOf } from "./scope.ts";
export { type TargetExtras, targetJson, updateStatusName } from "./target.json.ts";
export { type TargetRow, targetColumns, targetJoins } from "./target-columns.ts";
export { targetLists } from "./target-lists.ts";

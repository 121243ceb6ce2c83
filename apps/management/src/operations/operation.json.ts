import type { OperationView } from "@harrier/contracts";
import { optional, type View } from "@harrier/query";
import type { OperationRow } from "./background.sql.ts";

/** Renders a background operation (contract extensions.md, background operations). */
export function operationJson({ base }: Pick<View, "base">, row: OperationRow): OperationView {
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    status: row.status,
    done: row.done,
    ...optional("total", row.outOf),
    ...optional("lastError", row.lastError),
    ...optional("failed", row.failed),
    ...optional("failures", row.failures),
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    ...optional("startedAt", row.startedAt),
    ...optional("endedAt", row.endedAt),
    _links: { self: { href: `${base}/operations/${row.id}` } },
  };
}

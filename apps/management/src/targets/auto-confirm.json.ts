import type { AutoConfirmView } from "@harrier/contracts";
import { encoded, optional, type View } from "@harrier/query";
import type { AutoConfirmRow } from "./auto-confirm.sql.ts";

/** Renders the state with the link that changes it (contract management.md §1.5). */
export function autoConfirmJson({ base }: View, controllerId: string, row: AutoConfirmRow): AutoConfirmView {
  const change = row.active ? "deactivate" : "activate";
  return {
    active: row.active,
    ...optional("initiator", row.initiator),
    ...optional("remark", row.remark),
    ...optional("activatedAt", row.activatedAt),
    _links: { [change]: { href: `${base}/targets/${encoded(controllerId)}/autoConfirm/${change}` } },
  };
}

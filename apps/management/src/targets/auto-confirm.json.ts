import type { AutoConfirmView } from "@harrier/contracts";
import { encoded, optional, type View } from "../lists/json.ts";
import type { AutoConfirmRow } from "./auto-confirm.sql.ts";

/** The state with the link that leads to the other one (contract management.md §1.5). */
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

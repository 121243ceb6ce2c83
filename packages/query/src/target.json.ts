import { pollLimits, type TargetView, updateStatusNames } from "@harrier/contracts";
import { auditOf, encoded, optional, type View } from "./json.ts";
import type { TargetRow } from "./target-columns.ts";

export interface TargetExtras {
  now: number;
  /** It is present only if the caller may read it. */
  securityToken?: string | undefined;
}

/** Shows a target (spec 001 §2.4); a single answer has more links than an item of a list (contract management.md §1.5, §4.6). */
export function targetJson({ base }: Pick<View, "base">, row: TargetRow, extras: TargetExtras, single = false): TargetView {
  const self = `${base}/targets/${encoded(row.controllerId)}`;
  return {
    ...auditOf(row),
    controllerId: row.controllerId,
    name: row.name,
    ...optional("description", row.description),
    ...optional("group", row.group),
    updateStatus: updateStatusName(row.updateStatus),
    ...optional("lastControllerRequestAt", row.lastPollAt),
    ...optional("installedAt", row.installedAt),
    ...optional("ipAddress", hostOf(row.address)),
    ...optional("address", row.address),
    ...optional("pollStatus", pollStatus(row, extras.now)),
    ...optional("securityToken", extras.securityToken),
    requestAttributes: row.requestAttributes,
    ...optional("targetType", row.targetTypeId),
    ...optional("targetTypeName", row.targetTypeName),
    ...optional("autoConfirmActive", row.autoConfirmActive),
    _links: { self: { href: self }, ...(single ? singleLinks(base, self, row) : {}) },
  };
}

/** Answers the name of an update status (spec 001 §2.4). */
export function updateStatusName(code: number): TargetView["updateStatus"] {
  return updateStatusNames[code] ?? "unknown";
}

function singleLinks(base: string, self: string, row: TargetRow) {
  return {
    assignedDS: { href: `${self}/assignedDS` },
    installedDS: { href: `${self}/installedDS` },
    attributes: { href: `${self}/attributes` },
    actions: { href: `${self}/actions?offset=0&limit=50&sort=${encoded("id:DESC")}` },
    metadata: { href: `${self}/metadata?offset=0&limit=50` },
    ...optional("targetType", row.targetTypeId === null ? null : { href: `${base}/targettypes/${row.targetTypeId}` }),
    ...optional("autoConfirm", row.autoConfirmActive === null ? null : { href: `${self}/autoConfirm` }),
  };
}

function pollStatus(row: TargetRow, now: number): TargetView["pollStatus"] {
  if (row.lastPollAt === null) return undefined;
  const { expectedMs, overdueMs } = pollLimits(row);
  return {
    lastRequestAt: row.lastPollAt,
    nextExpectedRequestAt: row.lastPollAt + expectedMs,
    overdue: now > row.lastPollAt + overdueMs,
  };
}

/** Answers the host of an address that has one; a message queue has none (contract management.md §4.6). */
export function hostOf(address: string | null): string | undefined {
  if (address === null || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol === "amqp:" || url.protocol === "amqps:" || url.hostname === "") return undefined;
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

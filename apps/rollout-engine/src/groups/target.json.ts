import { type TargetView, updateStatusNames } from "@harrier/contracts";
import type { TenantSettings } from "../settings/settings.ts";
import type { TargetRow } from "./groups.sql.ts";

export interface TargetExtras {
  now: number;
  settings: TenantSettings;
  /** Only where the caller may read it. */
  securityToken?: string | undefined;
}

/** A target as an item of a list (spec 001 §2.4, contract management.md §4.6). */
export function targetJson(base: string, row: TargetRow, extras: TargetExtras): TargetView {
  return {
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    lastModifiedBy: row.lastModifiedBy,
    lastModifiedAt: row.lastModifiedAt,
    controllerId: row.controllerId,
    name: row.name,
    ...present("description", row.description),
    ...present("group", row.group),
    updateStatus: updateStatusNames[row.updateStatus] ?? "unknown",
    ...present("lastControllerRequestAt", row.lastPollAt),
    ...present("installedAt", row.installedAt),
    ...present("ipAddress", hostOf(row.address)),
    ...present("address", row.address),
    ...present("pollStatus", pollStatus(row, extras)),
    ...present("securityToken", extras.securityToken),
    requestAttributes: row.requestAttributes,
    ...present("targetType", row.targetTypeId),
    ...present("targetTypeName", row.targetTypeName),
    ...(extras.settings.consentFlow ? { autoConfirmActive: row.autoConfirm } : {}),
    _links: { self: { href: `${base}/targets/${encodeURIComponent(row.controllerId)}` } },
  };
}

/** A member only where there is a value: null members are left out (contract management.md §1.2). */
function present<K extends string, V>(name: K, value: V | null | undefined): { [P in K]?: V } {
  return value === null || value === undefined ? {} : ({ [name]: value } as { [P in K]?: V });
}

function pollStatus(row: TargetRow, { now, settings }: TargetExtras): TargetView["pollStatus"] {
  if (row.lastPollAt === null) return undefined;
  const expectedAt = row.lastPollAt + settings.pollingMs;
  return { lastRequestAt: row.lastPollAt, nextExpectedRequestAt: expectedAt, overdue: now > expectedAt + settings.overdueMs };
}

/** The host of an address that names one; a message queue is none. */
function hostOf(address: string | null): string | undefined {
  if (address === null || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol === "amqp:" || url.protocol === "amqps:" || url.hostname === "") return undefined;
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

import type { QuotaLimits } from "@harrier/contracts";

/** The limits of a tenant as they are in force now, from memory (settings/tenant-settings.ts): no round trip of a device's own. */
export type LimitsOf = (tenantId: number) => QuotaLimits;

/** How much was said in a report, against what its tenant allows. */
export interface Said {
  messages: number;
  limits: QuotaLimits;
}

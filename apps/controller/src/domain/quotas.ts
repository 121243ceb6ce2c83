import type { QuotaLimits } from "@harrier/contracts";

/** Returns the present limits of a tenant from memory (settings/tenant-settings.ts), so that a device's request needs no round trip for them. */
export type LimitsOf = (tenantId: number) => QuotaLimits;

/** The number of messages in a report, and the tenant's limit. */
export interface MessageCount {
  messages: number;
  limits: QuotaLimits;
}

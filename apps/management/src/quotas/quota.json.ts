import type { QuotaView } from "@harrier/contracts";
import { encoded, type View } from "@harrier/query";
import type { Quota } from "./quotas.ts";

/** Renders one quota (spec 001 §2.8); it has audit members only where its limit was set. `of` is the tenant, where it is not that of the caller. */
export function quotaJson({ base }: Pick<View, "base">, { key, limit, used, audit }: Quota, of?: string): QuotaView {
  const quotas = of === undefined ? "/system/quotas" : `/system/tenants/${of}/quotas`;
  return { ...audit, limit, used, _links: { self: { href: `${base}${quotas}/${encoded(key)}` } } };
}

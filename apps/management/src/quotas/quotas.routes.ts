import { type QuotaView, quotas, tenantQuotas } from "@harrier/contracts";
import { encoded, type View } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { checkOperator, getTenant } from "../tenants/tenants.ts";
import { getQuota, listQuotas, type Quota, type QuotaDeps, revisionOfQuota } from "./quotas.ts";
import { setQuota } from "./tenant-quotas.ts";

/** Renders one quota (spec 001 §2.8); it has audit members only where its limit was set. `of` is the tenant, where it is not that of the caller. */
function quotaJson({ base }: Pick<View, "base">, { key, limit, used, audit }: Quota, of?: string): QuotaView {
  const quotas = of === undefined ? "/system/quotas" : `/system/tenants/${of}/quotas`;
  return { ...audit, limit, used, _links: { self: { href: `${base}${quotas}/${encoded(key)}` } } };
}

/** Serves the quotas of the tenant (spec 001 §4.7; contract management.md §10.3). */
export function mountQuotas(mount: Mount, deps: QuotaDeps): void {
  mount(quotas.list, async (ctx) => ({
    body: Object.fromEntries((await listQuotas(deps, ctx.tenantId)).map((quota) => [quota.key, quotaJson(ctx, quota)])),
  }));

  mount(quotas.get, async (ctx) => ({ body: quotaJson(ctx, await getQuota(deps, ctx.tenantId, ctx.params.key)) }));
}

/** Serves the quotas of any tenant (contract extensions.md) to the operator of the installation alone. */
export function mountTenantQuotas(mount: Mount, deps: QuotaDeps): void {
  mount(tenantQuotas.list, async (ctx) => {
    checkOperator(ctx.identity);
    const { name, tenantId } = await getTenant(deps, ctx.params.tenantName);
    return { body: Object.fromEntries((await listQuotas(deps, tenantId)).map((quota) => [quota.key, quotaJson(ctx, quota, name)])) };
  });

  mount(tenantQuotas.get, async (ctx) => {
    checkOperator(ctx.identity);
    const { name, tenantId } = await getTenant(deps, ctx.params.tenantName);
    const quota = await getQuota(deps, tenantId, ctx.params.key);
    return { body: quotaJson(ctx, quota, name), revision: revisionOfQuota(quota) };
  });

  mount(tenantQuotas.set, async (ctx) => {
    checkOperator(ctx.identity);
    const { tenantName, key } = ctx.params;
    const { tenant, quota } = await setQuota(deps, ctx.identity, { tenant: tenantName, key, limit: ctx.body.limit, ifMatch: ctx.ifMatch });
    return { body: quotaJson(ctx, quota, tenant) };
  });
}

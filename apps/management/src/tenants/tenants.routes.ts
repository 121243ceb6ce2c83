import { page, tenants } from "@harrier/contracts";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { operationJson } from "../operations/operation.json.ts";
import { tenantJson } from "./tenant.json.ts";
import { type TenantRow, tenantList, tenantQuery } from "./tenants.sql.ts";
import { checkOperator, createTenants, deleteTenant, getTenant, switchTenant, type TenantDeps, updateTenant } from "./tenants.ts";

interface Deps extends TenantDeps {
  now: () => number;
  /** Starts the operation that was stored. */
  wakeOperations: () => void;
}

/** Serves the tenants of the installation (contract extensions.md) to its operator alone. */
export function mountTenants(register: Mount, deps: Deps): void {
  const mount: Mount = (route, handler) =>
    register(route, (ctx) => {
      checkOperator(ctx.identity);
      return handler(ctx);
    });

  mount(tenants.list, async (ctx) => {
    const kind = { source: tenantList, ...tenantQuery };
    const found = await readPage<TenantRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => tenantJson(ctx, row)),
        found,
      ),
    };
  });

  mount(tenants.create, async (ctx) => {
    const made = await createTenants(deps, ctx.identity, ctx.body);
    return { body: made.map(({ row, administrator }) => ({ ...tenantJson(ctx, row), ...(administrator && { administrator }) })) };
  });

  mount(tenants.get, async (ctx) => {
    const row = await getTenant(deps, ctx.params.tenantName);
    return { body: tenantJson(ctx, row), revision: row.revision };
  });

  mount(tenants.update, async (ctx) => {
    const { description } = ctx.body;
    const row = await updateTenant(deps, ctx.identity, { name: ctx.params.tenantName, description, ifMatch: ctx.ifMatch });
    return { body: tenantJson(ctx, row) };
  });

  mount(tenants.delete, async (ctx) => {
    const operation = await deleteTenant(deps, ctx.identity, { name: ctx.params.tenantName, ifMatch: ctx.ifMatch });
    deps.wakeOperations();
    return { body: operationJson(ctx, operation) };
  });

  mount(tenants.suspend, async (ctx) => ({
    body: tenantJson(ctx, await switchTenant(deps, ctx.identity, { name: ctx.params.tenantName, to: "suspended" })),
  }));

  mount(tenants.resume, async (ctx) => ({
    body: tenantJson(ctx, await switchTenant(deps, ctx.identity, { name: ctx.params.tenantName, to: "active" })),
  }));
}

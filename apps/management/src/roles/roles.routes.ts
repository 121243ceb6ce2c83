import { page, roles } from "@harrier/contracts";
import { readPage } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import { changeGrants } from "../grants/change-grants.ts";
import { type Grants, namesOf, permissionOf, permissionsOf, replaced, withNames, withoutName, withScopes } from "../grants/grants.ts";
import { idAndName } from "../lists/id-and-name.ts";
import { roleJson } from "./role.json.ts";
import { type RoleRow, roleList } from "./roles.sql.ts";
import { createRoles, getRole, grantsOfRole, type RoleDeps, removeRole } from "./roles.ts";

interface Deps extends RoleDeps {
  now: () => number;
}

type Change = (held: Grants) => Grants;

/** Serves roles, their permissions, and the target types that these are restricted to (spec 001 §4.7; contract management.md §10.2). */
export function mountRoles(mount: Mount, deps: Deps): void {
  mount(roles.list, async (ctx) => {
    const kind = { source: roleList(ctx.tenantId), ...idAndName };
    const found = await readPage<RoleRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    const full = ctx.query.representation === "full";
    return {
      body: page(
        found.rows.map((row) => roleJson(ctx, row, full)),
        found,
      ),
    };
  });

  mount(roles.create, async (ctx) => {
    const rows = await createRoles(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => roleJson(ctx, row, true)) };
  });

  mount(roles.get, async (ctx) => {
    const row = await getRole(deps, ctx.tenantId, ctx.params.roleId);
    return { body: roleJson(ctx, row, true), revision: row.revision };
  });

  mount(roles.delete, async (ctx) => removeRole(deps, ctx.identity, { id: ctx.params.roleId, ifMatch: ctx.ifMatch }));

  mountPermissions(mount, deps);
  mountScopes(mount, deps);
}

const change = (deps: Deps, ctx: RequestContext, id: number, to: Change) =>
  changeGrants(deps, ctx.identity, { holder: "roles", id, ifMatch: ctx.ifMatch }, to);

function mountPermissions(mount: Mount, deps: Deps): void {
  mount(roles.listPermissions, async (ctx) => {
    const row = await getRole(deps, ctx.tenantId, ctx.params.roleId);
    const grants = grantsOfRole(row);
    return { body: ctx.query.representation === "compact" ? namesOf(grants) : permissionsOf(grants), revision: row.revision };
  });

  mount(roles.setPermissions, async (ctx) => ({
    body: permissionsOf(await change(deps, ctx, ctx.params.roleId, () => replaced(ctx.body))),
  }));

  mount(roles.addPermissions, async (ctx) => ({
    body: permissionsOf(await change(deps, ctx, ctx.params.roleId, (held) => withNames(held, ctx.body))),
  }));

  mount(roles.removePermission, async (ctx) => ({
    body: permissionsOf(await change(deps, ctx, ctx.params.roleId, (held) => withoutName(held, ctx.params.permission))),
  }));
}

function mountScopes(mount: Mount, deps: Deps): void {
  type Scopes = readonly number[] | null;
  const rescope = async (ctx: RequestContext, of: { roleId: number; permission: string }, to: (held: Scopes) => Scopes) => {
    const grants = await change(deps, ctx, of.roleId, (held) => withScopes(held, of.permission, to));
    return permissionOf(grants, of.permission);
  };

  mount(roles.replaceScopes, async (ctx) => ({ body: await rescope(ctx, ctx.params, () => ctx.body) }));

  mount(roles.addScopes, async (ctx) => ({
    body: await rescope(ctx, ctx.params, (held) => [...new Set([...(held ?? []), ...ctx.body])]),
  }));

  mount(roles.removeScopes, async (ctx) => {
    const { body: taken } = ctx;
    if (taken === undefined) {
      await rescope(ctx, ctx.params, () => null);
      return ctx.surface === "rest" ? { status: 204 } : {};
    }
    // An unrestricted permission has no target types to remove, and the change must not leave it with less than before.
    return { body: await rescope(ctx, ctx.params, (held) => held?.filter((id) => !taken.includes(id)) ?? null) };
  });
}

import { page, users } from "@harrier/contracts";
import { readPage } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import { changeGrants } from "../grants/change-grants.ts";
import { type Grants, namesOf, permissionsOf, replaced, withNames, withoutName } from "../grants/grants.ts";
import { idAndName } from "../lists/id-and-name.ts";
import { userJson } from "./user.json.ts";
import { type UserRow, userList } from "./users.sql.ts";
import { changePassword, createUsers, getUser, removeUser, type UserDeps } from "./users.ts";

interface Deps extends UserDeps {
  now: () => number;
}

/** Serves users and their permissions (spec 001 §4.7; contract management.md §10.1). */
export function mountUsers(mount: Mount, deps: Deps): void {
  mount(users.list, async (ctx) => {
    const kind = { source: userList(ctx.tenantId), ...idAndName };
    const found = await readPage<UserRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    const full = ctx.query.representation === "full";
    return {
      body: page(
        found.rows.map((row) => userJson(ctx, row, full)),
        found,
      ),
    };
  });

  mount(users.create, async (ctx) => {
    const rows = await createUsers(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => userJson(ctx, row, true)) };
  });

  mount(users.get, async (ctx) => {
    const row = await getUser(deps, ctx.tenantId, ctx.params.userId);
    return { body: userJson(ctx, row, true), revision: row.revision };
  });

  mount(users.delete, async (ctx) => removeUser(deps, ctx.identity, { id: ctx.params.userId, ifMatch: ctx.ifMatch }));

  mount(users.listPermissions, async (ctx) => {
    const row = await getUser(deps, ctx.tenantId, ctx.params.userId);
    return { body: permissionsOf(row), revision: row.revision };
  });

  const change = (ctx: RequestContext, id: number, to: (held: Grants) => Grants) =>
    changeGrants(deps, ctx.identity, { holder: "users", id, ifMatch: ctx.ifMatch }, to);

  mount(users.setPermissions, async (ctx) => ({
    body: permissionsOf(await change(ctx, ctx.params.userId, () => replaced(ctx.body))),
  }));

  mount(users.addPermissions, async (ctx) => ({
    body: namesOf(await change(ctx, ctx.params.userId, (held) => withNames(held, ctx.body))),
  }));

  mount(users.removePermission, async (ctx) => ({
    body: namesOf(await change(ctx, ctx.params.userId, (held) => withoutName(held, ctx.params.permission))),
  }));

  mount(users.changePassword, async (ctx) =>
    changePassword(deps, ctx.identity, { id: ctx.params.userId, newPassword: ctx.body.newPassword, ifMatch: ctx.ifMatch }),
  );
}

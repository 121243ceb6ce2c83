import { operations, page } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Mount } from "@harrier/service";
import { systemPermission } from "../identity/permissions.ts";
import { readPage } from "../lists/list.ts";
import { findOperation, type OperationKind, type OperationRow, operationList, operationQuery } from "./background.sql.ts";
import { operationJson } from "./operation.json.ts";

interface Deps {
  db: Pick<Database, "pool">;
  now: () => number;
}

/** What somebody must hold to begin an operation, and therefore to look at it. */
const permissions: Readonly<Record<OperationKind, string>> = {
  "delete-tenant": systemPermission,
  "invalidate-set": "UPDATE_REPOSITORY",
};

function kindsFor(held: readonly string[]): OperationKind[] {
  return (Object.keys(permissions) as OperationKind[]).filter((kind) => held.includes(permissions[kind]));
}

/** How far background operations are (contract extensions.md). */
export function mountOperations(mount: Mount, deps: Deps): void {
  mount(operations.list, async (ctx) => {
    const kind = { source: operationList(ctx.tenantId, kindsFor(ctx.identity.permissions)), ...operationQuery };
    const { rows, total } = await readPage<OperationRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        rows.map((row) => operationJson(ctx, row)),
        total,
      ),
    };
  });

  mount(operations.get, async (ctx) => {
    const { operationId } = ctx.params;
    const row = await runOne(deps.db.pool, findOperation, [ctx.tenantId, operationId, kindsFor(ctx.identity.permissions)]);
    if (row === undefined) throw entityNotFound("Operation", operationId);
    return { body: operationJson(ctx, row) };
  });
}

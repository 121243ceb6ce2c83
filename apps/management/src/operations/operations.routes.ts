import { operations, page } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { readPage, scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import { systemPermission } from "../identity/permissions.ts";
import { findOperation, type OperationKind, type OperationRow, operationList, operationQuery, type Viewer } from "./background.sql.ts";
import { operationJson } from "./operation.json.ts";

interface Deps {
  db: Pick<Database, "pool">;
  now: () => number;
}

/** Who may begin an operation of a kind, by this permission, may read the operations of this kind. */
const permissions: Readonly<Record<OperationKind, string>> = {
  "delete-tenant": systemPermission,
  "invalidate-set": "UPDATE_REPOSITORY",
  "delete-targets": "DELETE_TARGET",
  "change-targets": "UPDATE_TARGET",
};

/** Their operations reach targets, whose types a permission may be restricted to. */
const onTargets: ReadonlySet<OperationKind> = new Set(["delete-targets", "change-targets"]);

/** A user who is limited to target types may not begin operations that reach other targets. */
function viewerOf(identity: Identity): Viewer {
  const held = (Object.keys(permissions) as OperationKind[]).filter((kind) => identity.permissions.includes(permissions[kind]));
  const limited = (kind: OperationKind) => onTargets.has(kind) && scopeOf(identity, permissions[kind]) !== null;
  return { kinds: held.filter((kind) => !limited(kind)), ownKinds: held.filter(limited), subject: identity.subject };
}

/** Serves the progress of background operations (contract extensions.md). */
export function mountOperations(mount: Mount, deps: Deps): void {
  mount(operations.list, async (ctx) => {
    const kind = { source: operationList(ctx.tenantId, viewerOf(ctx.identity)), ...operationQuery };
    const found = await readPage<OperationRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => operationJson(ctx, row)),
        found,
      ),
    };
  });

  mount(operations.get, async (ctx) => {
    const { operationId } = ctx.params;
    const { kinds, ownKinds, subject } = viewerOf(ctx.identity);
    const row = await runOne(deps.db.pool, findOperation, [ctx.tenantId, kinds, ownKinds, subject, operationId]);
    if (row === undefined) throw entityNotFound("Operation", operationId);
    return { body: operationJson(ctx, row) };
  });
}

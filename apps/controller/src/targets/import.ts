import { digest, run, runOne } from "@harrier/db";
import type { CallContext, ImportTargetsRequest, ImportTargetsResponseInput } from "@harrier/rpc";
import { tooManyTargets } from "../domain/quota-exceeded.ts";
import { finishImport, stageTargets } from "./import.sql.ts";
import { newToken, rethrowDuplicate, scopeOf, type TargetDeps } from "./targets.ts";

/**
 * Takes a piece of an import and, with the last one, creates targets: of all lines or of none, or with `skip` of those that are valid. Lines wait in
 * a table that is never shown, so that an import of any size is one short transaction, and an interrupted one has no effect.
 */
export async function importTargets(
  deps: TargetDeps,
  request: ImportTargetsRequest,
  ctx: CallContext,
): Promise<ImportTargetsResponseInput> {
  const { tenantId, tenant, subject } = ctx.principal;
  const { importId, skip, discard } = request;
  if (request.targets.length > 0) await stage(deps, request, tenantId);
  if (!request.last) return {};
  const scope = scopeOf(ctx, "CREATE_TARGET");
  const max = deps.limits(tenantId).TARGETS_MAX_COUNT;
  const row = await runOne(deps.db.pool, finishImport, [
    tenantId,
    tenant,
    importId,
    skip,
    discard,
    scope,
    subject,
    ctx.traceparent ?? null,
    max,
  ]).catch(rethrowDuplicate);
  await deps.fault("controller.create-targets.after-commit");
  const answer = row?.answer;
  if (answer === undefined) return {};
  if (answer.outcome === "quota") throw tooManyTargets(tenant, answer.good, max);
  const problems = answer.problems.map(({ type, ...problem }) => ({ ...problem, ...(type === null ? {} : { targetTypeId: type }) }));
  return { created: answer.created, failed: answer.failed, problems };
}

async function stage(deps: TargetDeps, { importId, targets }: ImportTargetsRequest, tenantId: number): Promise<void> {
  const items = targets.map(({ line, target }) => ({ line, target: target ?? { controllerId: "", name: "" } }));
  const tokens = items.map(({ target }) => target.securityToken ?? newToken());
  await run(deps.db.pool, stageTargets, [
    tenantId,
    importId,
    await deps.ids.take(tenantId, "target", items.length),
    items.map(({ line }) => line),
    items.map(({ target }) => target.controllerId),
    items.map(({ target }) => target.name),
    items.map(({ target }) => target.description ?? null),
    items.map(({ target }) => target.address ?? null),
    tokens.map((token) => digest(token)),
    tokens.map((token) => deps.secrets.seal(token)),
    items.map(({ target }) => target.targetTypeId ?? null),
  ]);
}

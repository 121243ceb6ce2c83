import { type SafetyPolicyView, safetyPolicies } from "@harrier/contracts";
import { auditOf, optional, type View } from "@harrier/query";
import type { Mount } from "@harrier/service";
import type { SafetyPolicyRow } from "./safety-policies.sql.ts";
import {
  changeSafetyPolicy,
  createSafetyPolicies,
  getSafetyPolicy,
  listAll,
  removeSafetyPolicy,
  type SafetyPolicyDeps,
} from "./safety-policies.ts";

/** Renders a policy; it is the same in both dialects. */
function safetyPolicyJson({ base }: View, row: SafetyPolicyRow): SafetyPolicyView {
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    ...optional("description", row.description),
    safety: row.safety,
    _links: { self: { href: `${base}/safetypolicies/${row.id}` } },
  };
}

/** Serves safety policies (contract beyond.md §1.1). */
export function mountSafetyPolicies(mount: Mount, deps: SafetyPolicyDeps): void {
  mount(safetyPolicies.list, async (ctx) => ({ body: (await listAll(deps, ctx.tenantId)).map((row) => safetyPolicyJson(ctx, row)) }));

  mount(safetyPolicies.create, async (ctx) => {
    const rows = await createSafetyPolicies(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => safetyPolicyJson(ctx, row)) };
  });

  mount(safetyPolicies.get, async (ctx) => {
    const row = await getSafetyPolicy(deps, ctx.tenantId, ctx.params.safetyPolicyId);
    return { body: safetyPolicyJson(ctx, row), revision: row.revision };
  });

  mount(safetyPolicies.update, async (ctx) => {
    const id = ctx.params.safetyPolicyId;
    return { body: safetyPolicyJson(ctx, await changeSafetyPolicy(deps, ctx.identity, { id, change: ctx.body, ifMatch: ctx.ifMatch })) };
  });

  mount(safetyPolicies.delete, (ctx) => removeSafetyPolicy(deps, ctx.identity, { id: ctx.params.safetyPolicyId, ifMatch: ctx.ifMatch }));
}

import { autoAssignments, autoAssignmentsOfSet, page } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import type { AutoAssignDeps } from "../filters/auto-assign.ts";
import { autoAssignmentJson } from "./auto-assignment.json.ts";
import {
  changeAutoAssignment,
  createAutoAssignment,
  decide,
  getAutoAssignment,
  listAutoAssignments,
  removeAutoAssignment,
  stepAutoAssignment,
} from "./auto-assignments.ts";

/** Mounts auto-assignments as a resource of their own (contract management.md §11); target filters show the same ones. */
export function mountAutoAssignments(mount: Mount, deps: AutoAssignDeps): void {
  const shown = async (base: string, tenantId: number, id: number) => ({
    body: autoAssignmentJson(base, await getAutoAssignment(deps, tenantId, id)),
  });

  mount(autoAssignments.list, async ({ tenantId, query, base }) => {
    const found = await listAutoAssignments(deps, tenantId, query);
    return {
      body: page(
        found.rows.map((row) => autoAssignmentJson(base, row)),
        found,
      ),
    };
  });

  mount(autoAssignmentsOfSet.autoAssignments, async ({ tenantId, params, query, base }) => {
    const found = await listAutoAssignments(deps, tenantId, { ...query, setId: params.distributionSetId });
    return {
      body: page(
        found.rows.map((row) => autoAssignmentJson(base, row)),
        found,
      ),
    };
  });

  mount(autoAssignments.create, async (ctx) => {
    const id = await createAutoAssignment(deps, ctx.body, ctx.out());
    return shown(ctx.base, ctx.tenantId, id);
  });

  mount(autoAssignments.get, async ({ base, tenantId, params }) => {
    const row = await getAutoAssignment(deps, tenantId, params.autoAssignmentId);
    return { body: autoAssignmentJson(base, row), revision: row.revision };
  });

  mount(autoAssignments.update, async ({ base, tenantId, identity, params, body, ifMatch }) => {
    await changeAutoAssignment(deps, identity, params.autoAssignmentId, { ...body, ifMatch });
    return shown(base, tenantId, params.autoAssignmentId);
  });

  mount(autoAssignments.delete, async ({ identity, params, ifMatch }) =>
    removeAutoAssignment(deps, identity, params.autoAssignmentId, { ifMatch }),
  );

  for (const step of ["start", "pause", "resume"] as const)
    mount(autoAssignments[step], async ({ identity, params }) => stepAutoAssignment(deps, identity, params.autoAssignmentId, step));

  for (const [row, approved] of [
    [autoAssignments.approve, true],
    [autoAssignments.deny, false],
  ] as const)
    mount(row, async ({ identity, params, query, ifMatch }) =>
      decide(deps, identity, params.autoAssignmentId, { approved, remark: query.remark || undefined, ifMatch }),
    );
}

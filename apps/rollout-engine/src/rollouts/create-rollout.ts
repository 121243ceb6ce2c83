import { type FrozenSafety, forceType, type RolloutCreate } from "@harrier/contracts";
import { type Database, type IdBlocks, run } from "@harrier/db";
import { withConflicts } from "@harrier/query";
import type { Client, OutCall, ReserveSetResponse } from "@harrier/rpc";
import { checkFilters, type Filters } from "./check-create.ts";
import { insertRollout, type NewGroup, type NewRollout } from "./create.sql.ts";
import { planRollout, type RolloutPlan } from "./plan-rollout.ts";
import { plannedGroups } from "./planned-groups.ts";

export interface CreateDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
  catalogue: Pick<Client<"harrier.management.v1.CatalogueService">, "reserveSet">;
  fault: (name: "rollout-engine.create.after-commit") => unknown;
  now: () => number;
}

/**
 * Creates a rollout in CREATING (spec 001 §4.6); the engine freezes its members next. The set is reserved only after all other checks, because a
 * refused rollout must not lock a set.
 */
export async function createRollout(
  deps: CreateDeps,
  body: RolloutCreate,
  call: OutCall,
  { filters = checkFilters(body), frozen }: { filters?: Filters; frozen?: FrozenSafety | null } = {},
): Promise<number> {
  const plan = await planRollout(deps, body, { ...call, filters, ...(frozen !== undefined && { frozen }) });
  const reserved = await deps.catalogue.reserveSet({ setId: plan.setId }, call);
  return insert(deps, body, { call, plan, reserved });
}

interface Gathered {
  call: OutCall;
  plan: RolloutPlan;
  reserved: ReserveSetResponse;
}

async function insert(deps: CreateDeps, body: RolloutCreate, gathered: Gathered): Promise<number> {
  const { call, plan, reserved } = gathered;
  const { tenantId, tenant, subject, permissions } = call.principal;
  const groups = plannedGroups(body, plan.settings.consentFlow);
  const [id, firstGroupId] = await Promise.all([deps.ids.next(tenantId, "rollout"), deps.ids.take(tenantId, "group", groups.length)]);
  const rollout: NewRollout = {
    id,
    name: body.name,
    description: body.description ?? null,
    filter: body.targetFilterQuery ?? "",
    setId: reserved.id,
    setName: reserved.name,
    setVersion: reserved.version,
    setTypeId: reserved.typeId,
    migrationStep: reserved.migrationStep,
    forceType: forceType[body.type],
    forceTime: storableMs(body.forcetime),
    weight: body.weight,
    maintenanceWindow: plan.window ?? null,
    startAt: body.startAt === undefined ? null : storableMs(body.startAt),
    targetTypes: plan.selection.targetTypes,
    totalTargets: plan.totalTargets,
    creatorApproves: permissions.includes("APPROVE_ROLLOUT"),
    createdBy: subject,
    safety: plan.safety,
    dynamic: body.dynamic,
    dynamicSuffix: body.dynamicGroupTemplate?.nameSuffix ?? "",
  };
  const rows: NewGroup[] = groups.map((group, position) => ({ ...group, position, id: firstGroupId + position }));
  await withConflicts(() =>
    run(deps.db.pool, insertRollout, [tenantId, tenant, call.traceparent ?? null, JSON.stringify(rollout), JSON.stringify(rows)]),
  );
  await deps.fault("rollout-engine.create.after-commit");
  return id;
}

/** Clamps a time before 1970 to 1970; the edge has already clamped times that are too late. */
const storableMs = (ms: number): number => Math.max(ms, 0);

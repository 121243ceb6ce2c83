import { forceType, type MaintenanceWindow, type RolloutCreate, upcomingMaintenanceWindow } from "@harrier/contracts";
import { type Database, type IdBlocks, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Client, OutCall, ReserveSetResponse } from "@harrier/rpc";
import { reachableTypes, type Scope } from "../matching/scope.ts";
import { loadSettings, queryMacros, type TenantSettings } from "../settings/settings.ts";
import { checkCounts, checkFilters, checkMembers, isPurelyDynamic, plannedShares } from "./check-create.ts";
import { withConflicts } from "./conflicts.ts";
import { countTargets, insertRollout, type NewGroup, type NewRollout, readSet } from "./create.sql.ts";

export interface CreateDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
  catalogue: Pick<Client<"harrier.management.v1.CatalogueService">, "reserveSet">;
  fault: (name: "rollout-engine.create.after-commit") => unknown;
  now: () => number;
}

/**
 * Creates a rollout in CREATING (spec 001 §4.6); the engine freezes its members next. Checks in the order of contract rollouts.md §2.4,
 * and the set is reserved only when nothing else can be wrong: a refused rollout must not lock a set.
 */
export async function createRollout(deps: CreateDeps, body: RolloutCreate, call: OutCall, filters = checkFilters(body)): Promise<number> {
  const { tenantId, permissions } = call.principal;
  const [settings, set] = await Promise.all([
    loadSettings(deps.db.pool, tenantId),
    runOne(deps.db.pool, readSet, [tenantId, body.distributionSetId]),
  ]);
  if (!set) throw entityNotFound("DistributionSet", body.distributionSetId);
  if (!set.valid) throw new HarrierError("setInvalid");
  if (!set.complete) throw new HarrierError("setIncomplete");
  if (set.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
  checkMembers(body, permissions, settings.quotas);
  const now = deps.now();
  const window = upcomingMaintenanceWindow(body.maintenanceWindow, now);
  const targetTypes = reachableTypes(call.principal);
  const selection = { tenantId, setTypeId: set.typeId, targetTypes, filter: filters.rollout, now, macros: queryMacros(settings, now) };
  const counts = await runOne(deps.db.pool, countTargets(selection, body.name, filters.groups));
  if (!counts) throw new Error("a count without a row");
  checkCounts(body, filters, counts, settings.quotas);
  const reserved = await deps.catalogue.reserveSet({ setId: set.id }, call);
  const totalTargets = isPurelyDynamic(body) ? 0 : counts.total;
  return insert(deps, body, { call, settings, reserved, targetTypes, totalTargets, window });
}

interface Gathered {
  call: OutCall;
  settings: TenantSettings;
  reserved: ReserveSetResponse;
  targetTypes: Scope;
  totalTargets: number;
  window: MaintenanceWindow | undefined;
}

async function insert(deps: CreateDeps, body: RolloutCreate, gathered: Gathered): Promise<number> {
  const { call, reserved } = gathered;
  const { tenantId, tenant, subject, permissions } = call.principal;
  const groups = plannedGroups(body, gathered.settings.consentFlow);
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
    maintenanceWindow: gathered.window ?? null,
    startAt: body.startAt === undefined ? null : storableMs(body.startAt),
    targetTypes: gathered.targetTypes,
    totalTargets: gathered.totalTargets,
    creatorApproves: permissions.includes("APPROVE_ROLLOUT"),
    createdBy: subject,
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

/** Before 1970 is as long ago as 1970; what is too far ahead for a time the edge has cut already. */
const storableMs = (ms: number): number => Math.max(ms, 0);

type PlannedGroup = Omit<NewGroup, "id" | "position">;
type Conditions = Pick<RolloutCreate, "successCondition" | "successAction" | "errorCondition" | "errorAction">;

/** Half of a group decides where nothing is said (contract rollouts.md §2.1). */
const half = { condition: "THRESHOLD", expression: "50" } as const;

/** More than any tenant has: the ids of targets end there. */
const mostTargets = 2 ** 31 - 1;

/** Groups as they will be: what a group leaves open comes from the rollout, and from the defaults (contract rollouts.md §2.2, §3.1). */
function plannedGroups(body: RolloutCreate, consentFlow: boolean): PlannedGroup[] {
  const planned = plannedShares(body).map((share, index) => {
    const own = body.groups?.[index];
    const name = own?.name ?? `group-${index + 1}`;
    return {
      name,
      description: own ? (own.description ?? null) : name,
      filter: share.filter,
      percentage: share.percentage,
      targetCount: null,
      confirmationRequired: own?.confirmationRequired ?? body.confirmationRequired ?? consentFlow,
      ...conditionsOf(own ?? {}, body),
    };
  });
  const template = body.dynamicGroupTemplate;
  if (!template) return planned;
  const name = `group-${planned.length + 1}${template.nameSuffix}`;
  const confirmationRequired = body.confirmationRequired ?? consentFlow;
  const targetCount = Math.min(template.targetCount, mostTargets);
  return [...planned, { name, description: name, filter: "", percentage: 0, targetCount, confirmationRequired, ...conditionsOf({}, body) }];
}

function conditionsOf(own: Partial<Conditions>, rollout: Conditions) {
  const success = own.successCondition ?? rollout.successCondition ?? half;
  const error = own.errorCondition ?? rollout.errorCondition ?? half;
  const onSuccess = own.successAction ?? rollout.successAction;
  const onError = own.errorAction ?? rollout.errorAction;
  return {
    successCondition: success.condition,
    successExpression: success.expression,
    successAction: onSuccess?.action ?? "NEXTGROUP",
    successActionExpression: onSuccess?.expression ?? "",
    errorCondition: error.condition,
    errorExpression: error.expression,
    errorAction: onError?.action ?? "PAUSE",
    errorActionExpression: onError?.expression ?? "",
  };
}

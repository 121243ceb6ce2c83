import { type FrozenSafety, type MaintenanceWindow, overdueMacro, type RolloutCreate, upcomingMaintenanceWindow } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { HarrierError, violationsInfo } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import type { Selection } from "../matching/matching.ts";
import { reachableTypes } from "../matching/scope.ts";
import { planSafety } from "../safety/plan-safety.ts";
import { checkSet } from "../sets/check-set.ts";
import { loadSettings, type TenantSettings } from "../settings/settings.ts";
import { checkCounts, checkFilters, checkMembers, type Filters, isPurelyDynamic } from "./check-create.ts";
import { countTargets, readSet } from "./create.sql.ts";

export interface PlanDeps {
  db: Database;
  now: () => number;
}

/** The plan of a rollout that could be created now. */
export interface RolloutPlan {
  filters: Filters;
  settings: TenantSettings;
  setId: number;
  selection: Selection;
  /** The static groups together have so many targets. */
  totalTargets: number;
  window: MaintenanceWindow | undefined;
  safety: FrozenSafety | null;
}

interface Requested extends Pick<OutCall, "principal"> {
  /** The filters, if they are parsed already. */
  filters?: Filters;
  /** The policy of the rollout that this one retries, as it was frozen there; it takes the place of the body's. */
  frozen?: FrozenSafety | null;
}

/** `distributionSetId` is read as this id if none is given. No set has it. */
const noSet = 0;

/** The error is that of an unknown set (contract rollouts.md §2.4) with another message, because the request named none. */
function withoutSet(): HarrierError {
  const info = { type: "DistributionSet", ...violationsInfo([{ path: "distributionSetId", problem: "is missing" }]) };
  return new HarrierError("entityNotFound", "A rollout needs a distributionSetId.", { info });
}

/**
 * Checks everything that can be wrong with a rollout before it is created, in the order of contract rollouts.md §2.4. It takes three round trips,
 * one or two more with a safety policy, and writes nothing.
 */
export async function planRollout(deps: PlanDeps, body: RolloutCreate, requested: Requested): Promise<RolloutPlan> {
  const { principal, filters = checkFilters(body), frozen } = requested;
  const { tenantId, permissions } = principal;
  const id = body.distributionSetId;
  const [settings, found] = await Promise.all([loadSettings(deps.db.pool, tenantId), runOne(deps.db.pool, readSet, [tenantId, id])]);
  if (id === noSet) throw withoutSet();
  const set = await checkSet(deps.db.pool, { tenantId, id }, found);
  checkMembers(body, permissions, settings.quotas);
  const now = deps.now();
  const window = upcomingMaintenanceWindow(body.maintenanceWindow, now);
  const targetTypes = reachableTypes(principal);
  const selection = { tenantId, setTypeId: set.typeId, targetTypes, filter: filters.rollout, now, macros: overdueMacro(settings, now) };
  const counts = await runOne(deps.db.pool, countTargets(selection, body.name, filters.groups));
  if (!counts) throw new Error("a count without a row");
  checkCounts(body, filters, counts, settings.quotas);
  const given = { given: body.safety, byDefault: settings.safetyDefault, forceType: body.type };
  const safety = frozen === undefined ? await planSafety(deps.db.pool, { tenantId, setId: set.id, selection, ...given }) : frozen;
  return { filters, settings, safety, setId: set.id, selection, totalTargets: isPurelyDynamic(body) ? 0 : counts.total, window };
}

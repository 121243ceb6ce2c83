import { type MaintenanceWindow, type RolloutCreate, upcomingMaintenanceWindow } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { HarrierError, violationsInfo } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import type { Selection } from "../matching/matching.ts";
import { reachableTypes } from "../matching/scope.ts";
import { checkSet } from "../sets/check-set.ts";
import { loadSettings, queryMacros, type TenantSettings } from "../settings/settings.ts";
import { checkCounts, checkFilters, checkMembers, type Filters, isPurelyDynamic } from "./check-create.ts";
import { countTargets, readSet } from "./create.sql.ts";

export interface PlanDeps {
  db: Database;
  now: () => number;
}

/** A rollout that could be created this moment. */
export interface RolloutPlan {
  filters: Filters;
  settings: TenantSettings;
  setId: number;
  selection: Selection;
  /** Of its static groups together. */
  totalTargets: number;
  window: MaintenanceWindow | undefined;
}

interface Asked extends Pick<OutCall, "principal"> {
  /** Where they are known already. */
  filters?: Filters;
}

/** What `distributionSetId` is read as where none is given. No set has this id. */
const noSet = 0;

/** The answer is the unknown set's (contract rollouts.md §2.4), the words are not: the caller has named none. */
function withoutSet(): HarrierError {
  const info = { type: "DistributionSet", ...violationsInfo([{ path: "distributionSetId", problem: "is missing" }]) };
  return new HarrierError("entityNotFound", "A rollout needs a distributionSetId.", { info });
}

/** Everything that can be wrong with a rollout before it is made, in the order of contract rollouts.md §2.4. Three round trips, nothing is written. */
export async function planRollout(deps: PlanDeps, body: RolloutCreate, asked: Asked): Promise<RolloutPlan> {
  const { principal, filters = checkFilters(body) } = asked;
  const { tenantId, permissions } = principal;
  const id = body.distributionSetId;
  const [settings, found] = await Promise.all([loadSettings(deps.db.pool, tenantId), runOne(deps.db.pool, readSet, [tenantId, id])]);
  if (id === noSet) throw withoutSet();
  const set = await checkSet(deps.db.pool, { tenantId, id }, found);
  checkMembers(body, permissions, settings.quotas);
  const now = deps.now();
  const window = upcomingMaintenanceWindow(body.maintenanceWindow, now);
  const targetTypes = reachableTypes(principal);
  const selection = { tenantId, setTypeId: set.typeId, targetTypes, filter: filters.rollout, now, macros: queryMacros(settings, now) };
  const counts = await runOne(deps.db.pool, countTargets(selection, body.name, filters.groups));
  if (!counts) throw new Error("a count without a row");
  checkCounts(body, filters, counts, settings.quotas);
  return { filters, settings, setId: set.id, selection, totalTargets: isPurelyDynamic(body) ? 0 : counts.total, window };
}

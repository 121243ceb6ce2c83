import { isOver, overdueMacro } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { quotaExceeded } from "@harrier/errors";
import type { Selection } from "../matching/matching.ts";
import { loadSettings, type TenantSettings } from "../settings/settings.ts";
import { countEligible } from "./auto-assign.sql.ts";

interface Deps {
  db: Database;
  now: () => number;
}

type Requested = Omit<Selection, "now" | "macros"> & { filterId: number; setId: number };

interface Checked {
  selection: Selection;
  settings: TenantSettings;
}

/** Answers what it has read. It refuses an auto-assignment that would assign a set to too many targets at once (contract management.md §9, maxTargetsPerAutoAssignment). */
export async function checkQuota(deps: Deps, { filterId, setId, ...requested }: Requested): Promise<Checked> {
  const now = deps.now();
  const settings = await loadSettings(deps.db.pool, requested.tenantId);
  const limit = settings.quotas.TARGETS_PER_AUTO_ASSIGNMENT_MAX_COUNT;
  const selection = { ...requested, now, macros: overdueMacro(settings, now) };
  if (limit <= 0) return { selection, settings };
  const counted = await runOne(deps.db.pool, countEligible(selection, setId, limit + 1));
  const n = counted?.n ?? 0;
  if (isOver(limit, n)) throw quotaExceeded({ n, of: "Target", owner: `TargetFilterQuery '${filterId}'`, limit });
  return { selection, settings };
}

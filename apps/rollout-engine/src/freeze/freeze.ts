import { overdueMacro } from "@harrier/contracts";
import { type Database, inTransaction, type Queryable, run, runOne } from "@harrier/db";

import { applyChanges } from "../changes/apply-changes.ts";
import { addGroup } from "../dynamic/add-group.sql.ts";
import { parseOwnFilter, parseStoredFilter, type Selection } from "../matching/matching.ts";
import { loadSettings, type TenantSettings } from "../settings/settings.ts";
import {
  analyzeCandidates,
  analyzeMembers,
  countCandidates,
  countPool,
  dropCandidates,
  dropMembers,
  type FreezeRow,
  type FrozenGroup,
  freezeCandidates,
  freezeMembers,
  lockForFreeze,
  membersFromCandidates,
  oneSnapshot,
  type Ranges,
  storeReachedTypes,
  storeSizes,
  takeFromPool,
} from "./freeze.sql.ts";
import { sizeByFilters, sizeByShares } from "./size-groups.ts";

interface Deps {
  db: Database;
  fault: (name: "rollout-engine.freeze.after-commit") => unknown;
}

interface Rollout {
  tenantId: number;
  rolloutId: number;
}

interface Plan {
  groups: readonly FrozenGroup[];
  /** So many targets were counted at creation. */
  expected: number;
}

/** From so many new rows on, refreshing the statistics of the members' table pays off. */
const worthAnalyzing = 1_000;

/**
 * Freezes the members of a rollout's groups (contract rollouts.md §3), and makes the rollout READY, or lets it wait for approval. All happens in
 * one transaction: a killed engine leaves nothing behind, and of two engines the second finds nothing to do. Answers false if the rollout is not
 * CREATING any more.
 */
export async function freezeRollout(deps: Deps, { tenantId, rolloutId }: Rollout): Promise<boolean> {
  const size = await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, oneSnapshot, []);
    const row = await runOne(tx, lockForFreeze, [tenantId, rolloutId]);
    if (!row) return undefined;
    const settings = await loadSettings(tx, tenantId);
    const selection = selectionOf(settings, tenantId, row);
    // a `real` is returned as its shortest text, but the sizes are defined on the 32-bit float itself
    const groups = row.groups.map((group) => ({ ...group, percentage: Math.fround(group.percentage) }));
    const plan = { groups, expected: row.totalTargets };
    const freeze = groups.some((group) => group.filter !== "") ? freezeByFilters : freezeByShares;
    const sizes = groups.length > 0 ? await freeze(tx, rolloutId, selection, plan) : [];
    const groupIds = groups.map((group) => group.id);
    if (groups.length > 0) await run(tx, storeSizes, [tenantId, rolloutId, groupIds, sizes]);
    // the reach of a dynamic rollout is what its creator might reach, because its members of today are not all of them (ADR 16)
    if (!row.dynamic) await run(tx, storeReachedTypes(tenantId, rolloutId));
    else if (row.dynamicGroup === null)
      await runOne(tx, addGroup, [tenantId, row.tenant, rolloutId, groupIds.at(-1) ?? 0, "creating", "ready"]);
    await applyChanges(tx, {
      tenantId,
      tenant: row.tenant,
      rolloutId,
      expected: ["creating"],
      groups: groupIds.map((id) => ({ id, from: "creating", to: "ready" })),
      // whether a rollout waits for approval is decided only here: turning the setting off later releases none (contract rollouts.md §4.11)
      rollout: { from: "creating", to: settings.approval && !row.creatorApproves ? "waiting_for_approval" : "ready" },
    });
    return sizes.reduce((sum, n) => sum + n, 0);
  });
  await deps.fault("rollout-engine.freeze.after-commit");
  if (size !== undefined && size >= worthAnalyzing) await run(deps.db.pool, analyzeMembers, []);
  return size !== undefined;
}

function selectionOf(settings: TenantSettings, tenantId: number, row: FreezeRow): Selection {
  // macros refer to the moment of creation, like the limit on the targets' own creation
  const now = row.createdAt;
  const macros = overdueMacro(settings, now);
  return { tenantId, setTypeId: row.setTypeId, targetTypes: row.targetTypes, filter: parseOwnFilter(row.filter), now, macros };
}

/**
 * Freezes groups without filters of their own: it computes the sizes and inserts the members in one statement. The count at creation is nearly
 * always still right, so nothing is counted again; one member more than expected is accepted to notice when it is not.
 */
async function freezeByShares(tx: Queryable, rolloutId: number, selection: Selection, plan: Plan): Promise<number[]> {
  const { groups, expected } = plan;
  const sizes = sizeByShares(groups, expected);
  const ranges = rangesOf(groups, sizes);
  if (ranges.total === expected) {
    const made = await runOne(tx, freezeMembers(selection, rolloutId, ranges, expected + 1));
    if (made?.n === expected) return sizes;
    await run(tx, dropMembers, [selection.tenantId, rolloutId]);
  }
  const pool = await runOne(tx, countCandidates(selection, rolloutId));
  const exact = sizeByShares(groups, pool?.n ?? 0);
  const exactRanges = rangesOf(groups, exact);
  await runOne(tx, freezeMembers(selection, rolloutId, exactRanges, exactRanges.total));
  return exact;
}

/** Freezes groups with filters of their own: it flags all candidates in one statement, then each group takes its share of what is left. */
async function freezeByFilters(tx: Queryable, rolloutId: number, selection: Selection, { groups }: Plan): Promise<number[]> {
  const { tenantId } = selection;
  const texts = [...new Set(groups.map((group) => group.filter))];
  const filters = texts.map((text) => (text === "" ? null : parseStoredFilter(text)));
  await run(tx, freezeCandidates(selection, rolloutId, filters));
  await run(tx, analyzeCandidates, []);
  const indexOf = (filter: string) => texts.indexOf(filter) + 1;
  const sizes = await sizeByFilters(groups, {
    count: async (filter) => (await runOne(tx, countPool, [tenantId, rolloutId, indexOf(filter)]))?.n ?? 0,
    async take(filter, drawing, taken) {
      const { groupIds, first, total } = rangesOf(drawing, taken);
      await run(tx, takeFromPool, [tenantId, rolloutId, indexOf(filter), groupIds, first, total]);
    },
  });
  await run(tx, membersFromCandidates, [tenantId, rolloutId]);
  await run(tx, dropCandidates, [tenantId, rolloutId]);
  return sizes;
}

function rangesOf(groups: readonly FrozenGroup[], sizes: readonly number[]): Ranges {
  let total = 0;
  const first = sizes.map((size) => {
    const begin = total + 1;
    total += size;
    return begin;
  });
  return { groupIds: groups.map((group) => group.id), first, total };
}

import type { RolloutCreate, RolloutPreview } from "@harrier/contracts";
import { inTransaction, type Queryable, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { type Pool, sizeByFilters, sizeByShares } from "../freeze/size-groups.ts";
import type { GroupShare } from "../freeze/split-groups.ts";
import { visibleTypes } from "../matching/scope.ts";
import { isPurelyDynamic } from "../rollouts/check-create.ts";
import { type PlanDeps, planRollout, type RolloutPlan } from "../rollouts/plan-rollout.ts";
import { type PlannedGroup, plannedGroups } from "../rollouts/planned-groups.ts";
import { countLeft, type EarlierGroup, lastOf, repeatableRead, sortTargets } from "./preview.sql.ts";

/**
 * Previews the rollout that the body would create now (extensions.md, rollout preview). It is refused in the same cases, and the functions of the
 * freeze compute the sizes of its groups. Only targets that the filter finds and the caller sees are counted, so that the others are not revealed.
 * Nothing is stored.
 */
export async function previewRollout(deps: PlanDeps, body: RolloutCreate, call: OutCall): Promise<RolloutPreview> {
  const plan = await planRollout(deps, body, call);
  const planned = plannedGroups(body, plan.settings.consentFlow);
  return inTransaction(deps.db.pool, async (tx) => {
    await run(tx, repeatableRead, []);
    const sorted = await runOne(tx, sortTargets(plan.selection, visibleTypes(call.principal)));
    if (!sorted) throw new Error("counts without a row");
    const { candidates, outsideScope, incompatibleType, matching } = sorted;
    const filled = planned.filter((group) => group.targetCount === null);
    const sizes = filled.some((group) => group.filter !== "")
      ? await sizeByFilters(filled, readPool(deps, { tx, plan, deadline: call.deadline }))
      : sizeByShares(filled, matching);
    // matching targets join a purely dynamic rollout as soon as it runs
    const matched = isPurelyDynamic(body) ? matching : sizes.reduce((sum, size) => sum + size, 0);
    const excluded = { outsideScope, incompatibleType, noGroup: matching - matched };
    return { candidates, matched, excluded, groups: shownGroups(body, planned, sizes) };
  });
}

/**
 * Shows the groups as they will be when the rollout is ready; a dynamic rollout without a template gets its dynamic group then (contract
 * rollouts.md §4.6).
 */
function shownGroups(body: RolloutCreate, planned: readonly PlannedGroup[], sizes: readonly number[]): RolloutPreview["groups"] {
  const groups = planned.map(({ name, percentage, targetCount }, index) => ({
    name,
    targetPercentage: targetCount ?? inFewestDigits(percentage),
    dynamic: targetCount !== null,
    totalTargets: sizes[index] ?? 0,
  }));
  if (!body.dynamic || body.dynamicGroupTemplate) return groups;
  const name = `group-${groups.length + 1}`;
  return [...groups, { name, targetPercentage: Math.max(1, sizes.at(-1) ?? 0), dynamic: true, totalTargets: 0 }];
}

/** Writes a 32-bit float with the fewest digits that identify it, as PostgreSQL does. */
const inFewestDigits = (value: number): number => {
  for (let digits = 1; digits <= 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === Math.fround(value)) return shorter;
  }
  return value;
};

/**
 * Draws targets without writing: the first n of a pool are those up to the id of the nth, so that a filter and an id describe what is taken. It
 * costs one or two walks over the targets for each filter that the groups alternate between; a preview beyond its deadline is refused.
 */
function readPool(
  { now }: Pick<PlanDeps, "now">,
  { tx, plan, deadline }: { tx: Queryable; plan: RolloutPlan; deadline: number },
): Pool<GroupShare> {
  const { selection, filters } = plan;
  const astOf = (filter: string) => filters.groups[filters.texts.indexOf(filter)] ?? null;
  const cuts = new Map<string, EarlierGroup>();
  let drawn: { filter: string; pool: number; n: number } | undefined;

  /** Reads where the previous group ends; this is only needed when another group follows. */
  async function cut(): Promise<void> {
    if (drawn === undefined || drawn.n === 0) return;
    const { filter, pool, n } = drawn;
    const ast = astOf(filter);
    const last = n < pool ? await runOne(tx, lastOf(selection, ast, { taken: [...cuts.values()], n })) : undefined;
    cuts.set(filter, { filter: ast, upTo: last?.id ?? maxTargets });
  }

  return {
    async count(filter) {
      if (now() >= deadline) throw new HarrierError("deadlineExceeded");
      await cut();
      const pool = (await runOne(tx, countLeft(selection, astOf(filter), [...cuts.values()])))?.n ?? 0;
      drawn = { filter, pool, n: 0 };
      return pool;
    },
    async take(_filter, _groups, sizes) {
      if (drawn) drawn.n = sizes.reduce((sum, size) => sum + size, 0);
    },
  };
}

/** Ids of targets end at this number. */
const maxTargets = 2 ** 31 - 1;

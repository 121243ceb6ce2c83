import { isOver, type QuotaLimits, type RolloutCreate, type RolloutGroupCreate } from "@harrier/contracts";
import { alreadyExists, HarrierError, lacksPermission, quotaExceeded, violationsInfo } from "@harrier/errors";
import { type Ast, comparisonsOf } from "@harrier/fiql";
import { equalShares, type GroupCount, type GroupShare, simulateGroups } from "../freeze/split-groups.ts";
import { parseTargetFilter } from "../matching/matching.ts";
import type { Counts } from "./create.sql.ts";

/** The parsed filters of a rollout that is to be created. */
export interface Filters {
  rollout: Ast;
  /** The distinct filters of its groups in order of appearance; "" stands for a group without one. */
  texts: string[];
  groups: (Ast | null)[];
}

const violation = (message: string): HarrierError => new HarrierError("constraintViolation", message);

/** Checks the filters before everything else (contract rollouts.md §2.4): a missing filter is a syntax error, not a missing member. */
export function checkFilters(body: RolloutCreate): Filters {
  if (body.targetFilterQuery === undefined) throw new HarrierError("rsqlParamSyntax", "A rollout needs a targetFilterQuery.");
  const rollout = parseTargetFilter(body.targetFilterQuery);
  const texts = [...new Set((body.groups ?? []).map((group) => group.targetFilterQuery ?? ""))];
  const groups = texts.map((text) => (text === "" ? null : parseTargetFilter(text)));
  checkTogether(groups);
  return { rollout, texts, groups };
}

/**
 * The filters of all groups together have this limit, because one statement evaluates them all. Without a limit 500 filters of 60 tags each kept
 * the planner busy for minutes and took more than ten gigabytes; PostgreSQL takes no more than 65,535 values.
 */
const maxTogether = { comparisons: 1_000, values: 20_000 } as const;

function checkTogether(filters: readonly (Ast | null)[]): void {
  const comparisons = filters.flatMap((filter) => (filter ? comparisonsOf(filter) : []));
  const values = comparisons.reduce((sum, comparison) => sum + comparison.arguments.length, 0);
  const refuse = (max: number, of: string) =>
    new HarrierError("rsqlParamSyntax", `The filters of the groups have more than ${max} ${of} together.`);
  if (comparisons.length > maxTogether.comparisons) throw refuse(maxTogether.comparisons, "comparisons");
  if (values > maxTogether.values) throw refuse(maxTogether.values, "values");
}

/** Checks the members of the body against each other, in the order of contract rollouts.md §2.4. */
export function checkMembers(body: RolloutCreate, permissions: readonly string[], quotas: QuotaLimits): void {
  const { groups, amountGroups, dynamicGroupTemplate: template } = body;
  if (groups && body.dynamic) throw violation("A dynamic rollout makes its groups itself: give amountGroups.");
  if (groups && amountGroups !== undefined) throw violation("Give either amountGroups or groups, not both.");
  if (groups?.length === 0) throw violation("A rollout needs at least one group.");
  if (amountGroups !== undefined && amountGroups < 1 && !isPurelyDynamic(body)) throw violation("amountGroups must be at least 1.");
  const amount = (groups?.length ?? amountGroups ?? 1) + (body.dynamic ? 1 : 0);
  const limit = quotas.ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT;
  if (isOver(limit, amount)) throw quotaExceeded({ n: amount, of: "RolloutGroup", owner: "Rollout '<new>'", limit });
  if (template && !body.dynamic) throw violation("A dynamicGroupTemplate needs a dynamic rollout.");
  if (template && template.targetCount < 1) throw violation("The targetCount of a dynamicGroupTemplate must be at least 1.");
  if (template) checkGroupQuota(template.targetCount, quotas.TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT);
  if (body.startAt !== undefined && !permissions.includes("HANDLE_ROLLOUT")) throw lacksPermission(["HANDLE_ROLLOUT"]);
}

/** Whether all targets join the rollout while it runs, so that it needs none at the start (contract rollouts.md §4.6). */
export function isPurelyDynamic({ dynamic, amountGroups, dynamicGroupTemplate }: RolloutCreate): boolean {
  return dynamic && amountGroups === 0 && dynamicGroupTemplate !== undefined;
}

/** Checks the number of matching targets, in the same order. */
export function checkCounts(body: RolloutCreate, filters: Filters, counts: Counts, quotas: QuotaLimits): void {
  if (!isPurelyDynamic(body)) checkSizes(body, filters, counts, quotas);
  if (counts.nameTaken) throw alreadyExists({ name: body.name });
  const names = (body.groups ?? []).map((group) => group.name);
  const twice = names.findIndex((name, n) => names.indexOf(name) < n);
  if (twice < 0) return;
  const info = violationsInfo([{ path: `groups.${twice}.name`, problem: "is the name of an earlier group" }]);
  throw new HarrierError("entityAlreadyExists", "Two groups of the rollout have the same name.", { info });
}

function checkSizes(body: RolloutCreate, filters: Filters, counts: Counts, quotas: QuotaLimits): void {
  if (counts.total === 0) throw violation("No existing target matches the filter and is compatible with the distribution set.");
  const sizes = body.groups ? coveringSizes(body.groups, filters, counts) : [Math.floor(counts.total / (body.amountGroups ?? 1))];
  for (const size of sizes) checkGroupQuota(size, quotas.TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT);
}

function checkGroupQuota(size: number, limit: number): void {
  if (isOver(limit, size)) throw quotaExceeded({ n: size, of: "Target", owner: "RolloutGroup '<new>'", limit });
}

/** Answers the sizes of listed groups, which must cover all targets. */
function coveringSizes(groups: readonly RolloutGroupCreate[], filters: Filters, counts: Counts): number[] {
  const sizes = simulateGroups(sharesOf(groups), countsPerGroup(groups, filters, counts));
  const covered = sizes.reduce((sum, size) => sum + size, 0);
  if (covered !== counts.total) throw violation(`The groups must cover all ${counts.total} targets, they cover ${covered}.`);
  return sizes;
}

/** A group with the filter of an earlier one overlaps it completely; for other groups the overlap is counted. */
function countsPerGroup(groups: readonly RolloutGroupCreate[], filters: Filters, counts: Counts): GroupCount[] {
  const seen = new Set<string>();
  return groups.map((group) => {
    const text = group.targetFilterQuery ?? "";
    const index = filters.texts.indexOf(text);
    const matching = counts.matching[index] ?? 0;
    const overlapping = seen.has(text) ? matching : (counts.overlapping[index] ?? 0);
    seen.add(text);
    return { matching, overlapping };
  });
}

function sharesOf(groups: readonly RolloutGroupCreate[]): GroupShare[] {
  return groups.map((group) => ({ filter: group.targetFilterQuery ?? "", percentage: Math.fround(group.targetPercentage) }));
}

/** Answers the shares of the groups that are filled at once, whether the body gives their number or lists them. */
export function plannedShares(body: RolloutCreate): GroupShare[] {
  return body.groups ? sharesOf(body.groups) : equalShares(body.amountGroups ?? 1);
}

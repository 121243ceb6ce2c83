import type { FinalReport } from "../report.ts";
import type { Admin, Page } from "./admin.ts";

/** The counts of a group by bucket (contract rollouts.md §4.10). */
export interface Counts {
  readonly running: number;
  readonly notstarted: number;
  readonly scheduled: number;
  readonly cancelled: number;
  readonly finished: number;
  readonly error: number;
}

export interface GroupView {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly totalTargets: number;
  readonly totalTargetsPerStatus: Counts;
}

export interface GroupComparison {
  readonly name: string;
  readonly api: Counts;
  readonly tally: Counts;
}

export interface Comparison {
  readonly groups: readonly GroupComparison[];
  /** It is empty if both sides agree on every group and every device. */
  readonly differences: readonly string[];
}

interface TargetView {
  readonly controllerId: string;
  readonly updateStatus: string;
}

const pageSize = 500;

async function readAll<T>(admin: Admin, path: string): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await admin.get<Page<T>>(`${path}?offset=${all.length}&limit=${pageSize}`);
    all.push(...page.content);
    if (page.content.length === 0 || all.length >= page.total) return all;
  }
}

export async function readGroups(admin: Admin, rolloutId: number): Promise<readonly GroupView[]> {
  return (await admin.get<Page<GroupView>>(`rollouts/${rolloutId}/deploygroups?representation=full&limit=${pageSize}`)).content;
}

/** Compares the answers that devices got with what the API says: per group and status, and device by device. */
export async function compare(admin: Admin, rolloutId: number, finals: readonly FinalReport[]): Promise<Comparison> {
  const byDevice = Map.groupBy(finals, (final) => final.controllerId);
  const groups: GroupComparison[] = [];
  const differences: string[] = [];
  for (const group of await readGroups(admin, rolloutId)) {
    const members = await readAll<TargetView>(admin, `rollouts/${rolloutId}/deploygroups/${group.id}/targets`);
    const tally = count(members.map((member) => byDevice.get(member.controllerId)?.at(-1)?.outcome));
    groups.push({ name: group.name, api: group.totalTargetsPerStatus, tally });
    if (members.length !== group.totalTargets)
      differences.push(`${group.name}: ${members.length} members, totalTargets ${group.totalTargets}`);
    for (const status of Object.keys(tally) as (keyof Counts)[]) {
      const [own, theirs] = [tally[status], group.totalTargetsPerStatus[status]];
      if (own !== theirs) differences.push(`${group.name}: ${own} devices are ${status}, the API says ${theirs}`);
    }
    for (const member of members) differences.push(...compareDevice(member, byDevice.get(member.controllerId) ?? []));
  }
  return { groups, differences };
}

function count(outcomes: readonly (FinalReport["outcome"] | undefined)[]): Counts {
  const of = (outcome: FinalReport["outcome"] | undefined): number => outcomes.filter((one) => one === outcome).length;
  // a device that has not sent its final report can only still be running
  const running = of(undefined) + of("gone");
  return { running, notstarted: 0, scheduled: 0, cancelled: of("cancelled"), finished: of("success"), error: of("failure") };
}

const statusOf: Readonly<Record<FinalReport["outcome"], string>> = {
  success: "in_sync",
  failure: "error",
  cancelled: "in_sync",
  gone: "pending",
};

function compareDevice(target: TargetView, finals: readonly FinalReport[]): string[] {
  const { controllerId, updateStatus } = target;
  if (finals.length !== 1) return [`${controllerId}: ${finals.length} final reports were answered`];
  const expected = statusOf[finals[0]?.outcome ?? "gone"];
  return updateStatus === expected ? [] : [`${controllerId}: reported ${finals[0]?.outcome}, the API says ${updateStatus}`];
}

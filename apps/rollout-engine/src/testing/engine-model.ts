import type { BucketName } from "@harrier/contracts";
import type { GroupChange, RolloutChange } from "../domain/changes.ts";
import { groupsToFinish } from "../domain/changes.ts";
import {
  type BesideName,
  type BucketCounts,
  type GroupFacts,
  noActions,
  type RolloutFacts,
  type RolloutStatus,
  type SafetyCounting,
} from "../domain/facts.ts";
import { advance, type Command, groupsToBeginOnResume, groupToTrigger } from "../engine/advance.ts";
import { deletable, stoppable } from "../rollouts/statuses.ts";
import { rollout } from "./facts.ts";

type Bucket = BucketName;
export type Outcome = "finished" | "error" | "cancelled";
/** What may happen to an action with a policy, beside the reports that end it (contract beyond.md §1.3). */
export type Watched = "claim" | "prove" | "refute" | "silence" | "speak" | "give up" | "fail for now" | "next attempt";
/** What each needs, and what the action is afterwards; undefined stands for running and nothing else. */
const watchedSteps: Readonly<Record<Watched, readonly [from: readonly (BesideName | undefined)[], to: BesideName | Outcome | undefined]>> =
  {
    claim: [[undefined, "silent"], "proving"],
    prove: [["proving"], "finished"],
    refute: [["proving"], "error"],
    silence: [[undefined], "silent"],
    speak: [["silent"], undefined],
    "give up": [[undefined, "silent"], "error"],
    "fail for now": [[undefined, "silent"], "retrying"],
    "next attempt": [["retrying"], undefined],
  };

interface Member {
  groupId: number;
  /** It is undefined if there is no action. */
  action?: Bucket;
  /** A running action may count otherwise. */
  beside?: BesideName;
  /** It has been silent at some time, so its group may have ended without it. */
  left?: true;
  deleted?: true;
}

interface GroupRow extends GroupFacts {
  members: number[];
  scheduleCursor: number;
  startCursor: number;
}

/** What an engine read in one round, and what it decided. Everything may have changed when it acts. */
interface Lease {
  rollout: RolloutFacts & { stopCursor: number };
  groups: GroupRow[];
  commands: Command[];
}

/** One chunk walks over so many targets. */
const chunk = 2;
/** Actions may be created in these statuses, as in perform.ts. */
const scheduling: readonly RolloutStatus[] = ["starting", "running", "paused"];

/**
 * Models a rollout with its groups, its actions and controller's fence as plain data, several engines that each read, decide and act on their own,
 * and the commands of users. The guards are those of the statements: expected status, epoch, status of the group. Each action of an engine is one
 * step, so that anything may happen between two of them, and an engine may be killed after any.
 */
export class EngineModel {
  readonly rollout: RolloutFacts & { stopCursor: number };
  readonly groups: GroupRow[];
  readonly members: Member[] = [];
  /** Collects every change of a status, as events do. */
  readonly changes: { groupId?: number; from: string; to: string }[] = [];
  /** It is true when no row is left. */
  gone = false;
  readonly #approval: boolean;
  #fence = { epoch: 0, open: false };
  readonly #leases: (Lease | undefined)[];

  constructor(
    groups: readonly (GroupFacts & { size: number })[],
    { approval = false, engines = 2, safety = null as SafetyCounting | null } = {},
  ) {
    this.rollout = { ...rollout("creating", { epoch: 0, fencedEpoch: 0, safety }), stopCursor: -1 };
    this.#approval = approval;
    this.#leases = Array.from({ length: engines });
    this.groups = groups.map(({ size, ...group }) => {
      const first = this.members.length;
      const members = Array.from({ length: size }, (_, n) => first + n);
      this.members.push(...members.map(() => ({ groupId: group.id })));
      return { ...group, status: "creating", allStarted: false, totalTargets: size, members, scheduleCursor: -1, startCursor: -1 };
    });
  }

  /** Counts the actions of each group by bucket. */
  progress(): Map<number, BucketCounts> {
    const counted = new Map(this.groups.map(({ id }) => [id, { ...noActions }]));
    for (const { groupId, action, beside } of this.members) {
      const counts = counted.get(groupId);
      if (action === undefined || counts === undefined) continue;
      Object.assign(counts, { [action]: counts[action] + 1 });
      if (action === "running" && beside !== undefined) Object.assign(counts, { [beside]: (counts[beside] ?? 0) + 1 });
    }
    return counted;
  }

  /** Advances an engine: it reads and decides if it has no command left, and otherwise executes the next part. */
  engineStep(engine: number): void {
    const lease = this.#leases[engine];
    if (lease === undefined) {
      if (this.gone) return;
      const seen = structuredClone({ rollout: this.rollout, groups: this.groups });
      this.#leases[engine] = { ...seen, commands: advance(seen.rollout, seen.groups, this.progress(), 0) };
      return;
    }
    const [command] = lease.commands;
    let done = true;
    // an error of controller fails the round
    if (command === undefined || this.#act(lease, command) === "fenced") this.kill(engine);
    else {
      done = command.do !== "schedule" && command.do !== "start" && command.do !== "stop" && command.do !== "remove";
      if (done) lease.commands.shift();
      else lease.commands.length = 0;
      if (lease.commands.length === 0) this.kill(engine);
    }
  }

  /** Ends the round of an engine that dies or has executed its commands, so that it remembers nothing. */
  kill(engine: number): void {
    this.#leases[engine] = undefined;
  }

  /** Answers whether an engine that polls now has nothing to do. */
  isIdle(): boolean {
    return this.gone || advance(this.rollout, this.groups, this.progress(), 0).every((command) => command.do === "wait");
  }

  command(name: "start" | "pause" | "resume" | "stop" | "delete" | "trigger" | "approve" | "deny"): void {
    const user = (expected: readonly RolloutStatus[], groups: GroupChange[], to?: RolloutStatus) =>
      this.#apply(expected, undefined, groups, to === undefined ? undefined : { to });
    if (name === "start") user(["ready"], [], "starting");
    if (name === "pause") user(["running"], [], "paused");
    if (name === "resume") user(["paused"], groupsToBeginOnResume(this.groups, this.progress()), "running");
    if (name === "stop") user(stoppable, [], "stopping");
    if (name === "delete") user(deletable, [], "deleting");
    if (name === "approve") user(["waiting_for_approval"], [], "ready");
    if (name === "deny") user(["waiting_for_approval"], [], "approval_denied");
    const next = name === "trigger" ? groupToTrigger(this.groups) : undefined;
    if (typeof next === "object") user(["running"], [next]);
  }

  /** Ends the action of a member by its device's report. */
  report(member: number, outcome: Outcome): void {
    const target = this.members[member];
    if (target?.action === "running") target.action = outcome;
  }

  /** Lets something happen to the watched action of a member, where it may. */
  watch(member: number, what: Watched): void {
    const target = this.members[member];
    const [from, to] = watchedSteps[what];
    if (target?.action !== "running" || !from.includes(target.beside)) return;
    delete target.beside;
    if (to === "finished" || to === "error" || to === "cancelled") target.action = to;
    else if (to !== undefined) target.beside = to;
    if (to === "silent") target.left = true;
  }

  /** Deletes the target of a member, and its action with it. */
  deleteTarget(member: number): void {
    const target = this.members[member];
    if (target === undefined) return;
    target.deleted = true;
    delete target.action;
  }

  #act({ rollout: seen, groups }: Lease, command: Command): "fenced" | undefined {
    const { epoch, status } = seen;
    const own = (change: RolloutChange | undefined, groupChanges: readonly GroupChange[] = [], expected = [status]) =>
      this.#apply(expected, epoch, groupChanges, change);
    switch (command.do) {
      case "freeze": {
        const ready = groups.map(({ id }) => ({ id, from: "creating", to: "ready" }) as const);
        own({ from: "creating", to: this.#approval ? "waiting_for_approval" : "ready" }, ready);
        return;
      }
      case "openFence":
        if (this.#fence.epoch < epoch) this.#fence = { epoch, open: true };
        if (this.rollout.epoch === epoch) this.rollout.fencedEpoch = epoch;
        return;
      case "recount":
        for (const { groupId, total } of command.totals) {
          const group = this.#group(groupId);
          if (group.totalTargets === groups.find(({ id }) => id === groupId)?.totalTargets) group.totalTargets = total;
        }
        return;
      case "change":
        own(command.rollout, command.groups);
        return;
      case "schedule":
      case "start": {
        const group = groups.find(({ id }) => id === command.groups[0]);
        if (group === undefined) return;
        if (!this.#fence.open || this.#fence.epoch !== epoch) return "fenced";
        if (command.do === "start") this.#startChunk(group);
        else if (this.#scheduleChunk(group)) own(undefined, [{ id: group.id, from: "ready", to: "scheduled" }], [...scheduling]);
        return;
      }
      case "stop":
      case "remove":
        if (!this.#endChunk(seen)) return;
        if (command.do === "stop") own({ from: "stopping", to: "stopped" }, groupsToFinish(groups));
        else if (this.rollout.status === "deleting" && this.members.every(({ action }) => action === undefined)) this.gone = true;
        else own({ from: "deleting", to: "deleted" }, groupsToFinish(groups));
        return;
    }
  }

  /** Applies a change with the guards of apply-changes.sql.ts. */
  #apply(expected: readonly string[], epoch: number | undefined, groups: readonly GroupChange[], change: RolloutChange | undefined): void {
    const { rollout: row } = this;
    if (this.gone || !expected.includes(row.status) || (epoch !== undefined && epoch !== row.epoch)) return;
    for (const { id, from, to, requestStart } of groups) {
      const group = this.#group(id);
      if (group.status !== from) continue;
      if (requestStart) group.startRequested = true;
      if (to !== undefined) this.changes.push({ groupId: id, from, to });
      group.status = to ?? group.status;
    }
    if (change === undefined || (change.from ?? row.status) !== row.status) return;
    this.changes.push({ from: row.status, to: change.to });
    row.status = change.to;
    if (change.to === "starting") row.epoch += 1;
    if (change.to === "stopping" || change.to === "deleting") row.stopCursor = -1;
  }

  #group(id: number): GroupRow {
    return this.groups.find((group) => group.id === id) as GroupRow;
  }

  /** Creates the next missing actions of a group; true when it has all of them. */
  #scheduleChunk(seen: GroupRow): boolean {
    const page = seen.members.filter((member) => member > seen.scheduleCursor).slice(0, chunk);
    for (const member of page) {
      const target = this.members[member] as Member;
      if (!target.deleted) target.action ??= "scheduled";
    }
    const group = this.#group(seen.id);
    group.scheduleCursor = Math.max(group.scheduleCursor, page.at(-1) ?? -1);
    return page.length < chunk;
  }

  #startChunk(seen: GroupRow): void {
    const page = seen.members.filter((member) => member > seen.startCursor && this.members[member]?.action !== undefined).slice(0, chunk);
    for (const member of page) {
      const target = this.members[member] as Member;
      if (target.action === "scheduled") target.action = "running";
    }
    const group = this.#group(seen.id);
    group.startCursor = Math.max(group.startCursor, page.at(-1) ?? -1);
    if (page.length < chunk) group.allStarted = true;
  }

  /** Ends the next actions; true when none is left behind the cursor that the engine had read. */
  #endChunk({ epoch, status, stopCursor }: Lease["rollout"]): boolean {
    if (epoch === 0) return true;
    if (this.#fence.epoch <= epoch) this.#fence = { epoch, open: false };
    const page = this.members
      .flatMap(({ action }, member) => (member > stopCursor && action !== undefined ? [member] : []))
      .slice(0, chunk);
    for (const member of page) {
      const target = this.members[member] as Member;
      if (target.action === "scheduled") delete target.action;
      // a stop asks the device, which may answer later; a deletion closes the action
      if (target.action === "running" && status === "deleting") target.action = "cancelled";
    }
    const cursor = page.at(-1) ?? -1;
    if (!this.gone && this.rollout.status === status) this.rollout.stopCursor = Math.max(this.rollout.stopCursor, cursor);
    return page.length < chunk;
  }
}

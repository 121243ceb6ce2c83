import { type ActionStatus, actionStatus, type ForceType, forceType, type UpdateStatus, updateStatus } from "@harrier/contracts";
import fc from "fast-check";
import type { Answer } from "./confirmation.ts";
import { confirmedByItself, decideConfirmation } from "./decide-confirmation.ts";
import { type ActionState, decideReport, type TargetState } from "./decide-report.ts";
import { type Channel, channels, type Execution, endsAction, executions, type Result, results } from "./transitions.ts";
import { type Resource, resources, visibility } from "./visibility.ts";

/*
 * One target and everything that can be done to it, as a pure model: what devices say is decided by the tables of this folder,
 * what administrators do is written out here once more. model.test.ts walks it alone, model.db.test.ts beside the database.
 */

/** `place`: which of the target's actions, counted round; without any action the step is left out. */
export type Step =
  | { kind: "report"; place: number; channel: Channel; execution: Execution; result: Result; code: number | null }
  | { kind: "look"; place: number; resource: Resource }
  | { kind: "answer"; place: number; answer: Answer; code: number | null }
  | { kind: "cancel" | "quit" | "force"; place: number }
  | { kind: "assign"; setId: number; force: ForceType; weight: number; migrationStep: boolean; confirmationRequired: boolean }
  | { kind: "runs"; setId: number }
  | { kind: "autoConfirm" | "flow" | "autoclose"; on: boolean }
  /** Several assignments side by side: never turned off again. */
  | { kind: "several" }
  | { kind: "attributes" }
  | { kind: "poll" };

export interface ModelAction extends ActionState {
  weight: number;
  migrationStep: boolean;
  /** Statuses of the history, the oldest first. */
  entries: readonly ActionStatus[];
}

export interface World {
  target: TargetState;
  actions: readonly ModelAction[];
  autoConfirm: boolean;
  flow: boolean;
  autoclose: boolean;
  several: boolean;
}

export interface Outcome {
  /** `ok`, the code of the refusal, or what a poll links to. */
  outcome: string;
  world: World;
}

export const sets = [100, 101, 102] as const;

const place = fc.nat({ max: 5 });
const code = fc.option(fc.integer({ min: -2, max: 500 }));

/** Steps as they come, those that matter most more often. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("report" as const),
      place,
      channel: fc.constantFrom(...channels),
      execution: fc.constantFrom(...executions),
      result: fc.constantFrom(...results),
      code,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("look" as const), place, resource: fc.constantFrom(...resources) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("answer" as const), place, answer: fc.constantFrom("confirmed", "denied"), code }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("cancel" as const, "quit" as const, "force" as const), place }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("assign" as const),
      setId: fc.constantFrom(...sets),
      force: fc.constantFrom(forceType.soft, forceType.forced, forceType.downloadonly),
      weight: fc.constantFrom(1000, 1000, 500),
      migrationStep: fc.boolean(),
      confirmationRequired: fc.constantFrom(true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("runs" as const), setId: fc.constantFrom(...sets) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("autoConfirm" as const, "flow" as const, "autoclose" as const), on: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("attributes" as const, "poll" as const, "several" as const) }) },
);

export const newWorld: World = {
  target: {
    updateStatus: updateStatus.registered,
    assignedSetId: null,
    installedSetId: null,
    installedActionId: null,
    requestAttributes: false,
  },
  actions: [],
  autoConfirm: false,
  flow: true,
  autoclose: false,
  several: false,
};

const unlimited = { entries: 0, messages: 0 };
const ok = (world: World): Outcome => ({ outcome: "ok", world });

/** Which action a step is about; its id is its place, from 1. */
export function actionOf(world: World, step: Step): ModelAction | undefined {
  return "place" in step ? world.actions[step.place % Math.max(world.actions.length, 1)] : undefined;
}

/** What a step comes to. */
export function take(world: World, step: Step): Outcome {
  if ("place" in step) {
    const action = actionOf(world, step);
    return action === undefined ? ok(world) : takeOne(world, action, step);
  }
  switch (step.kind) {
    case "assign":
      return assign(world, step);
    case "runs":
      return runs(world, step.setId);
    case "autoConfirm":
      return switchAutoConfirm(world, step.on);
    case "attributes":
      return ok({ ...world, target: { ...world.target, requestAttributes: false } });
    case "poll":
      return { outcome: linksOf(world), world };
    case "several":
      return ok({ ...world, several: true });
    default:
      return ok({ ...world, [step.kind]: step.on });
  }
}

function takeOne(world: World, action: ModelAction, step: Extract<Step, { place: number }>): Outcome {
  switch (step.kind) {
    case "report":
      return reportOf(world, action, step);
    case "look":
      return look(world, action, step.resource);
    case "answer": {
      const decision = decideConfirmation(action, { ...step, messageCount: 1 }, { flow: world.flow, limits: unlimited });
      if (decision.outcome === "ok") return ok(change(world, { ...action, ...decision.action }, decision.entry));
      return { outcome: decision.outcome === "closed" ? "actionClosed" : "stateNotFound", world };
    }
    case "cancel":
      if (!action.active || action.status === actionStatus.CANCELING) return { outcome: "actionNotCancelable", world };
      return ok(change(world, moved(action, actionStatus.CANCELING), actionStatus.CANCELING));
    case "quit": {
      if (action.status !== actionStatus.CANCELING) return { outcome: "actionNotForceQuitable", world };
      // for the target it is the same as a confirmed cancellation; the device's last code stays
      const said = { channel: "cancel", execution: "closed", result: "success", code: action.lastStatusCode } as const;
      return reportOf(world, action, said);
    }
    default: // "force", with no look at whether it is open (contract rollouts.md §6)
      if (action.forceType === forceType.forced) return ok(world);
      // one that was to be downloaded alone and has been is over, and counted so
      if (action.forceType === forceType.downloadonly && action.status === actionStatus.DOWNLOADED) return ok(world);
      return ok(change(world, { ...moved(action, action.status), forceType: forceType.forced }, action.status));
  }
}

/** An action with another status, one entry later. */
function moved(action: ModelAction, status: ActionStatus): ModelAction {
  return { ...action, status, active: action.active && !endsAction(status), revision: action.revision + 1 };
}

/** The world with an action as it is now, and its new entry. */
function change(world: World, action: ModelAction, entry: ActionStatus): World {
  const now = { ...action, entries: [...action.entries, entry] };
  return { ...world, actions: world.actions.map((a) => (a.id === now.id ? now : a)) };
}

function reportOf(
  world: World,
  action: ModelAction,
  report: { channel: Channel; execution: Execution; result: Result; code: number | null },
): Outcome {
  const others = world.actions.filter((a) => a !== action);
  const decision = decideReport({ action, target: world.target, others }, { ...report, messageCount: 1 }, unlimited);
  if (decision.outcome !== "ok") return { outcome: refusals[decision.outcome] ?? decision.outcome, world };
  if (!decision.changed) return ok(world);
  return ok({ ...change(world, { ...action, ...decision.action }, decision.entry), target: decision.target });
}

const refusals: Readonly<Record<string, string>> = { closed: "actionClosed", notCanceling: "actionNotCancelable" };

function look(world: World, action: ModelAction, resource: Resource): Outcome {
  const shown = action.active ? visibility[resource].open : visibility[resource].closed;
  if (!shown.some((name) => actionStatus[name] === action.status)) return { outcome: "stateNotFound", world };
  const leavesEntry = (resource === "deployment" || resource === "cancel") && action.active;
  if (!leavesEntry || action.entries.at(-1) === actionStatus.RETRIEVED) return ok(world);
  return ok(change(world, moved(action, resource === "cancel" ? action.status : actionStatus.RETRIEVED), actionStatus.RETRIEVED));
}

/** Contract device.md §7.1 and §7.4; several side by side: rollouts.md §6.9. */
function assign(world: World, step: Extract<Step, { kind: "assign" }>): Outcome {
  if (!world.several && world.target.assignedSetId === step.setId) return { outcome: "already", world };
  const superseded = world.actions.reduce((now, action) => {
    if (world.several || !action.active || action.migrationStep || (action.status === actionStatus.CANCELING && !now.autoclose)) return now;
    const status = now.autoclose ? actionStatus.CANCELED : actionStatus.CANCELING;
    return change(now, moved(action, status), status);
  }, world);
  const waits = world.flow && step.confirmationRequired && !world.autoConfirm;
  const { setId, weight, migrationStep } = step;
  const action: ModelAction = {
    ...begun(world, setId, waits ? actionStatus.WAIT_FOR_CONFIRMATION : actionStatus.RUNNING),
    forceType: step.force,
    weight,
    migrationStep,
    besideOthers: world.several,
    entries: [world.flow ? actionStatus.WAIT_FOR_CONFIRMATION : actionStatus.RUNNING],
  };
  const target = { ...world.target, assignedSetId: setId, updateStatus: updateStatus.pending as UpdateStatus };
  return ok({ ...superseded, target, actions: [...superseded.actions, action] });
}

function begun(world: World, setId: number, status: ActionStatus): ModelAction {
  return {
    id: world.actions.length + 1,
    setId,
    status,
    active: !endsAction(status),
    forceType: forceType.forced,
    revision: 1,
    lastStatusCode: null,
    weight: 1000,
    migrationStep: false,
    besideOthers: false,
    entries: [status],
  };
}

/** Contract device.md §5.4. */
function runs(world: World, setId: number): Outcome {
  const { target } = world;
  if (target.updateStatus === updateStatus.pending || target.assignedSetId === setId) return { outcome: "already", world };
  const action = begun(world, setId, actionStatus.FINISHED);
  const now: TargetState = {
    ...target,
    assignedSetId: setId,
    installedSetId: setId,
    installedActionId: action.id,
    updateStatus: updateStatus.in_sync,
  };
  return ok({ ...world, target: now, actions: [...world.actions, action] });
}

function switchAutoConfirm(world: World, on: boolean): Outcome {
  if (!on) return ok({ ...world, autoConfirm: false });
  if (world.autoConfirm) return { outcome: "autoConfAlreadyActive", world };
  const running = world.actions.reduce((now, action) => {
    const after = confirmedByItself(action);
    return after === action ? now : change(now, { ...action, ...after }, after.status);
  }, world);
  return ok({ ...running, autoConfirm: true });
}

/** What a poll shows (contract device.md §3.3), in words. */
function linksOf({ target, actions }: World): string {
  const [first] = actions.filter((a) => a.active).sort((a, b) => b.weight - a.weight || a.id - b.id);
  const links: string[] = [];
  if (first?.status === actionStatus.CANCELING) links.push(`cancelAction ${first.id}`);
  else if (first?.status === actionStatus.WAIT_FOR_CONFIRMATION) links.push(`confirmationBase ${first.id}`);
  else if (first !== undefined) links.push(`deploymentBase ${first.id}`);
  if (target.installedActionId !== null) links.push(`installedBase ${target.installedActionId}`);
  if (target.requestAttributes) links.push("configData");
  return links.join(", ");
}

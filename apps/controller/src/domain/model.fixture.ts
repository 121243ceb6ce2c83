import { type ActionStatus, actionStatus, type ForceType, forceType, type UpdateStatus, updateStatus } from "@harrier/contracts";
import fc from "fast-check";
import type { Answer } from "./confirmation.ts";
import { confirmedByItself, decideConfirmation } from "./decide-confirmation.ts";
import { type ActionState, decideReport, type TargetState } from "./decide-report.ts";
import { type Channel, channels, type Execution, endsAction, executions, type Result, results } from "./transitions.ts";
import { type Resource, resources, visibility } from "./visibility.ts";

/*
 * One target and everything that can be done to it, as a pure model: the tables of this folder decide about reports, and the commands of
 * administrators are written once more here. model.test.ts tests it alone, model.db.test.ts compares it with the database.
 */

/** `place` selects one of the target's actions, modulo their number; without any action the step is skipped. */
export type Step =
  | { kind: "report"; place: number; channel: Channel; execution: Execution; result: Result; code: number | null }
  | { kind: "look"; place: number; resource: Resource }
  | { kind: "answer"; place: number; answer: Answer; code: number | null }
  | { kind: "cancel" | "quit" | "force"; place: number }
  | { kind: "assign"; setId: number; force: ForceType; weight: number; migrationStep: boolean; confirmationRequired: boolean }
  | { kind: "runs"; setId: number }
  | { kind: "autoConfirm" | "flow" | "autoclose"; on: boolean }
  /** This step switches multi-assignment on, which is never switched off again. */
  | { kind: "several" }
  | { kind: "attributes" }
  | { kind: "poll" };

export interface ModelAction extends ActionState {
  weight: number;
  migrationStep: boolean;
  /** The statuses of the history, the oldest first. */
  entries: readonly ActionStatus[];
}

export interface Model {
  target: TargetState;
  actions: readonly ModelAction[];
  autoConfirm: boolean;
  flow: boolean;
  autoclose: boolean;
  several: boolean;
}

export interface Outcome {
  /** The outcome: `ok`, the code of the error, or the links of a poll. */
  outcome: string;
  model: Model;
}

export const sets = [100, 101, 102] as const;

const place = fc.nat({ max: 5 });
const code = fc.option(fc.integer({ min: -2, max: 500 }));

/** Generates random steps; the most important ones come more often. */
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

export const newModel: Model = {
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
const ok = (model: Model): Outcome => ({ outcome: "ok", model });

/** Returns the action of a step; its id is its place, from 1. */
export function actionOf(model: Model, step: Step): ModelAction | undefined {
  return "place" in step ? model.actions[step.place % Math.max(model.actions.length, 1)] : undefined;
}

/** Returns the outcome of a step. */
export function take(model: Model, step: Step): Outcome {
  if ("place" in step) {
    const action = actionOf(model, step);
    return action === undefined ? ok(model) : takeOne(model, action, step);
  }
  switch (step.kind) {
    case "assign":
      return assign(model, step);
    case "runs":
      return runs(model, step.setId);
    case "autoConfirm":
      return switchAutoConfirm(model, step.on);
    case "attributes":
      return ok({ ...model, target: { ...model.target, requestAttributes: false } });
    case "poll":
      return { outcome: linksOf(model), model };
    case "several":
      return ok({ ...model, several: true });
    default:
      return ok({ ...model, [step.kind]: step.on });
  }
}

function takeOne(model: Model, action: ModelAction, step: Extract<Step, { place: number }>): Outcome {
  switch (step.kind) {
    case "report":
      return reportOf(model, action, step);
    case "look":
      return retrieve(model, action, step.resource);
    case "answer": {
      const decision = decideConfirmation(action, { ...step, messageCount: 1 }, { flow: model.flow, limits: unlimited });
      if (decision.outcome === "ok") return ok(change(model, { ...action, ...decision.action }, decision.entry));
      return { outcome: decision.outcome === "closed" ? "actionClosed" : "stateNotFound", model };
    }
    case "cancel":
      if (!action.active || action.status === actionStatus.CANCELING) return { outcome: "actionNotCancelable", model };
      return ok(change(model, moved(action, actionStatus.CANCELING), actionStatus.CANCELING));
    case "quit": {
      if (action.status !== actionStatus.CANCELING) return { outcome: "actionNotForceQuitable", model };
      // For the target it is the same as a confirmed cancellation; the device's last code stays.
      const sent = { channel: "cancel", execution: "closed", result: "success", code: action.lastStatusCode } as const;
      return reportOf(model, action, sent);
    }
    default: // "force" does not check whether the action is open (contract rollouts.md §6)
      if (action.forceType === forceType.forced) return ok(model);
      // A downloadonly action that was downloaded is finished, and was counted so.
      if (action.forceType === forceType.downloadonly && action.status === actionStatus.DOWNLOADED) return ok(model);
      return ok(change(model, { ...moved(action, action.status), forceType: forceType.forced }, action.status));
  }
}

/** Returns an action with another status, one entry later. */
function moved(action: ModelAction, status: ActionStatus): ModelAction {
  return { ...action, status, active: action.active && !endsAction(status), revision: action.revision + 1 };
}

/** Returns the model with the changed action and its new entry. */
function change(model: Model, action: ModelAction, entry: ActionStatus): Model {
  const now = { ...action, entries: [...action.entries, entry] };
  return { ...model, actions: model.actions.map((a) => (a.id === now.id ? now : a)) };
}

function reportOf(
  model: Model,
  action: ModelAction,
  report: { channel: Channel; execution: Execution; result: Result; code: number | null },
): Outcome {
  const others = model.actions.filter((a) => a !== action);
  const decision = decideReport({ action, target: model.target, others }, { ...report, messageCount: 1 }, unlimited);
  if (decision.outcome !== "ok") return { outcome: refusals[decision.outcome] ?? decision.outcome, model };
  if (!decision.changed) return ok(model);
  return ok({ ...change(model, { ...action, ...decision.action }, decision.entry), target: decision.target });
}

const refusals: Readonly<Record<string, string>> = { closed: "actionClosed", notCanceling: "actionNotCancelable" };

function retrieve(model: Model, action: ModelAction, resource: Resource): Outcome {
  const shown = action.active ? visibility[resource].open : visibility[resource].closed;
  if (!shown.some((name) => actionStatus[name] === action.status)) return { outcome: "stateNotFound", model };
  const leavesEntry = (resource === "deployment" || resource === "cancel") && action.active;
  if (!leavesEntry || action.entries.at(-1) === actionStatus.RETRIEVED) return ok(model);
  return ok(change(model, moved(action, resource === "cancel" ? action.status : actionStatus.RETRIEVED), actionStatus.RETRIEVED));
}

/** This follows contract device.md §7.1 and §7.4; multi-assignment follows rollouts.md §6.9. */
function assign(model: Model, step: Extract<Step, { kind: "assign" }>): Outcome {
  if (!model.several && model.target.assignedSetId === step.setId) return { outcome: "already", model };
  const superseded = model.actions.reduce((now, action) => {
    if (model.several || !action.active || action.migrationStep || (action.status === actionStatus.CANCELING && !now.autoclose)) return now;
    const status = now.autoclose ? actionStatus.CANCELED : actionStatus.CANCELING;
    return change(now, moved(action, status), status);
  }, model);
  const waits = model.flow && step.confirmationRequired && !model.autoConfirm;
  const { setId, weight, migrationStep } = step;
  const action: ModelAction = {
    ...begun(model, setId, waits ? actionStatus.WAIT_FOR_CONFIRMATION : actionStatus.RUNNING),
    forceType: step.force,
    weight,
    migrationStep,
    multiAssignment: model.several,
    entries: [model.flow ? actionStatus.WAIT_FOR_CONFIRMATION : actionStatus.RUNNING],
  };
  const target = { ...model.target, assignedSetId: setId, updateStatus: updateStatus.pending as UpdateStatus };
  return ok({ ...superseded, target, actions: [...superseded.actions, action] });
}

function begun(model: Model, setId: number, status: ActionStatus): ModelAction {
  return {
    id: model.actions.length + 1,
    setId,
    status,
    active: !endsAction(status),
    forceType: forceType.forced,
    revision: 1,
    lastStatusCode: null,
    weight: 1000,
    migrationStep: false,
    multiAssignment: false,
    entries: [status],
  };
}

/** This follows contract device.md §5.4. */
function runs(model: Model, setId: number): Outcome {
  const { target } = model;
  if (target.updateStatus === updateStatus.pending || target.assignedSetId === setId) return { outcome: "already", model };
  const action = begun(model, setId, actionStatus.FINISHED);
  const now: TargetState = {
    ...target,
    assignedSetId: setId,
    installedSetId: setId,
    installedActionId: action.id,
    updateStatus: updateStatus.in_sync,
  };
  return ok({ ...model, target: now, actions: [...model.actions, action] });
}

function switchAutoConfirm(model: Model, on: boolean): Outcome {
  if (!on) return ok({ ...model, autoConfirm: false });
  if (model.autoConfirm) return { outcome: "autoConfAlreadyActive", model };
  const running = model.actions.reduce((now, action) => {
    const after = confirmedByItself(action);
    return after === action ? now : change(now, { ...action, ...after }, after.status);
  }, model);
  return ok({ ...running, autoConfirm: true });
}

/** Describes the links of a poll (contract device.md §3.3). */
function linksOf({ target, actions }: Model): string {
  const [first] = actions.filter((a) => a.active).sort((a, b) => b.weight - a.weight || a.id - b.id);
  const links: string[] = [];
  if (first?.status === actionStatus.CANCELING) links.push(`cancelAction ${first.id}`);
  else if (first?.status === actionStatus.WAIT_FOR_CONFIRMATION) links.push(`confirmationBase ${first.id}`);
  else if (first !== undefined) links.push(`deploymentBase ${first.id}`);
  if (target.installedActionId !== null) links.push(`installedBase ${target.installedActionId}`);
  if (target.requestAttributes) links.push("configData");
  return links.join(", ");
}

import { z } from "zod";
import { type ActionStatus, actionStatus, actionStatusNames, forceTypeNames, proofSources, watchStages } from "../codes.ts";
import { audit, links } from "../link.ts";
import { pageOf } from "../paging.ts";
import { expectedAttribute } from "../safety-policy.ts";
import { namedGroup, namedSet, namedTarget } from "./named.ts";

/** The statuses in lower case, as the management interface and the events write them; the index is the code. */
export const actionStatusWords = actionStatusNames.map((name) => name.toLowerCase()) as Lowercase<(typeof actionStatusNames)[number]>[];
const statusWord = z.enum(actionStatusWords);
export type ActionStatusWord = z.output<typeof statusWord>;

/** The window of an action as it is shown; `nextStartAt` is the start of the running or next window, 0 when there is none any more. */
export const maintenanceWindowView = z
  .object({ schedule: z.string(), duration: z.string(), timezone: z.string(), nextStartAt: z.int() })
  .meta({ id: "MaintenanceWindow" });

/** The window that a rollout or an auto-assignment gives to its actions. */
export const maintenanceScheduleView = maintenanceWindowView.omit({ nextStartAt: true }).meta({ id: "MaintenanceSchedule" });

/** How an action with a policy is watched, and which attempt it is (contract beyond.md §1.4); a list has `stage`, `proof.state` and `attempt` alone. */
export const actionSafetyView = z
  .object({
    /** What is awaited; absent while nothing is. */
    stage: z.enum(watchStages).optional(),
    /** Begin of the stage, epoch ms. */
    since: z.int().optional(),
    silentSince: z.int().optional(),
    /** When something happens by itself, epoch ms. */
    dueAt: z.int().optional(),
    proof: z
      .object({
        state: z.enum(["proving", "proven", "unproven", "refuted", "void"]),
        by: z.enum(proofSources).optional(),
        claimedAt: z.int().optional(),
        evidenceAt: z.int().optional(),
        polls: z.int().optional(),
        deadline: z.int().optional(),
        expected: z.array(expectedAttribute).optional(),
        /** What the device has sent of the expected attributes. */
        seen: z.array(expectedAttribute.omit({ match: true }).meta({ id: "SeenAttribute" })).optional(),
      })
      .meta({ id: "ActionProof" })
      .optional(),
    reason: z.enum(["unproven", "refuted", "timeout", "quota"]).optional(),
    attempt: z.int(),
    retryOf: z.int().optional(),
    retriedBy: z.int().optional(),
    nextAttemptAt: z.int().optional(),
  })
  .meta({ id: "ActionSafety" });
export type ActionSafetyView = z.output<typeof actionSafetyView>;

const actionMembers = {
  ...audit,
  id: z.int(),
  type: z.enum(["update", "cancel"]),
  active: z.boolean(),
  forceType: z.enum(forceTypeNames),
  forceTime: z.int().optional(),
  weight: z.int(),
  rollout: z.int().optional(),
  rolloutName: z.string().optional(),
  lastStatusCode: z.int().optional(),
  externalRef: z.string().optional(),
  maintenanceWindow: maintenanceWindowView.optional(),
  target: namedTarget,
  distributionSet: namedSet.optional(),
  rolloutGroup: namedGroup.optional(),
  lastMessage: z.string().optional(),
  /** It is present only with a policy, and where an attempt was repeated. */
  safety: actionSafetyView.optional(),
  _links: links("self", "canceledaction", "target", "distributionset", "status", "rollout"),
};

/** An action as the specification shows it (spec 001 §2.5): `status` says whether it is open, `detailStatus` has the status itself. */
export const actionView = z
  .object({ ...actionMembers, status: z.enum(["pending", "finished"]), detailStatus: statusWord })
  .meta({ id: "Action" });

/** An action as hawkBit 1.x shows it: `status` is the detailed one (contract rollouts.md §0, row 4). */
export const actionViewRest = z.object({ ...actionMembers, status: statusWord }).meta({ id: "ActionRest" });

export const actionPage = pageOf(actionView);
export const actionPageRest = pageOf(actionViewRest);

export type ActionView = z.output<typeof actionView> | z.output<typeof actionViewRest>;

/** The members of an action that depend on the dialect, and `type` and `active`, which belong to them. */
export type ActionStatusMembers =
  | { type: "update" | "cancel"; status: "pending" | "finished"; detailStatus: ActionStatusWord; active: boolean }
  | { type: "update" | "cancel"; status: ActionStatusWord; active: boolean };

/** Answers the lower-case name of a status for answers of the management interface. */
export function actionStatusWord(status: ActionStatus): ActionStatusWord {
  return actionStatusWords[status] as ActionStatusWord;
}

/** Writes the state of an action in a dialect's terms (contract rollouts.md §6.1, clients.md "Two dialects"). */
export function actionStatusMembers(status: ActionStatus, active: boolean, dialect: "spec" | "rest"): ActionStatusMembers {
  const type = status === actionStatus.CANCELING || status === actionStatus.CANCELED ? "cancel" : "update";
  const word = actionStatusWord(status);
  if (dialect === "rest") return { type, status: word, active };
  return { type, status: active ? "pending" : "finished", detailStatus: word, active };
}

/** One entry of an action's history (spec 001 §2.5); `reportedAt` is the server's time, `timestamp` the device's. */
export const actionStatusView = z
  .object({
    id: z.int(),
    type: statusWord,
    messages: z.array(z.string()),
    reportedAt: z.int(),
    timestamp: z.int(),
    code: z.int().optional(),
  })
  .meta({ id: "ActionStatus" });
export type ActionStatusView = z.output<typeof actionStatusView>;

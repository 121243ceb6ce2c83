import { z } from "zod";
import { forceTypeNames } from "../codes.ts";
import { routesOf } from "../route.ts";
import { bodyId, epochMs, flag, lookedUpText, weight, withoutNulls } from "../values.ts";
import { operationView } from "./operations.contract.ts";

/** A list of targets has at most so many. */
const maxListed = 1_000;

const actions = [
  "addTag",
  "removeTag",
  "setType",
  "removeType",
  "requestAttributes",
  "assignSet",
  "cancelActions",
  "activateAutoConfirm",
] as const;

/** These say how a set is assigned; they mean nothing for other actions. */
const ofAssignment = ["type", "forcetime", "weight", "confirmationRequired"] as const;

const members = z.object({
  action: z.enum(actions),
  q: lookedUpText.optional(),
  confirm: z.int().min(0).max(999_999_999).optional(),
  controllerIds: z.array(lookedUpText).min(1).max(maxListed).optional(),
  tagId: bodyId.optional(),
  targetTypeId: bodyId.optional(),
  distributionSetId: bodyId.optional(),
  type: z.enum(forceTypeNames).optional(),
  forcetime: epochMs.optional(),
  weight: weight.optional(),
  confirmationRequired: flag().optional(),
});

const subjects = ["tagId", "targetTypeId", "distributionSetId"] as const;

/** What an action is about; another member would be a mistake that nobody notices. */
const subjectOf: Readonly<Record<(typeof actions)[number], (typeof subjects)[number] | undefined>> = {
  addTag: "tagId",
  removeTag: "tagId",
  setType: "targetTypeId",
  removeType: undefined,
  requestAttributes: undefined,
  assignSet: "distributionSetId",
  cancelActions: undefined,
  activateAutoConfirm: undefined,
};

/** A change of many targets: of those that a query means, with their number, or of those of a list. */
export const targetChangeRequest = withoutNulls(
  members.superRefine(({ action, q, confirm, controllerIds, ...more }, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
    if ((q === undefined) === (controllerIds === undefined)) issue("q", "either a query or controllerIds are needed");
    if ((q === undefined) !== (confirm === undefined)) issue("confirm", "a query, and only a query, needs the number of its targets");
    for (const name of subjects) {
      if ((subjectOf[action] === name) !== (more[name] !== undefined))
        issue(name, subjectOf[action] === name ? "is needed" : `does not belong to ${action}`);
    }
    for (const name of ofAssignment) {
      if (action !== "assignSet" && more[name] !== undefined) issue(name, `does not belong to ${action}`);
    }
  }),
).meta({ id: "TargetChangeRequest" });
export type TargetChangeRequest = z.output<typeof members>;

/** Changes of many targets at once (contract console.md §4, M16). */
export const targetChanges = routesOf(
  "targets",
  { service: "management", interface: "management", source: "contract console.md §4" },
  {
    change: {
      method: "POST",
      path: "/targets.bulk",
      body: targetChangeRequest,
      success: { spec: 202, rest: 202 },
      response: operationView,
      permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
      errors: [
        "rsqlParamSyntax",
        "rsqlInvalidField",
        "constraintViolation",
        "entityNotFound",
        "concurrentModification",
        "setInvalid",
        "setIncomplete",
        "deleted",
      ],
      summary: "Change many targets, assign them a set or cancel their actions; 409 tells in `info.count` how many the query means",
    },
  },
);

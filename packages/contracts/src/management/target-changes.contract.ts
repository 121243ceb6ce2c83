import { z } from "zod";
import { route } from "../route.ts";
import { bodyId, lookedUpText, withoutNulls } from "../values.ts";
import { operationView } from "./operations.contract.ts";

/** A list of targets has at most so many. */
const maxListed = 1_000;

const actions = ["addTag", "removeTag", "setType", "removeType", "requestAttributes"] as const;

const members = z.object({
  action: z.enum(actions),
  q: lookedUpText.optional(),
  confirm: z.int().min(0).max(999_999_999).optional(),
  controllerIds: z.array(lookedUpText).min(1).max(maxListed).optional(),
  tagId: bodyId.optional(),
  targetTypeId: bodyId.optional(),
});

/** What an action is about; the other member would be a mistake that nobody notices. */
const subjectOf: Readonly<Record<(typeof actions)[number], "tagId" | "targetTypeId" | undefined>> = {
  addTag: "tagId",
  removeTag: "tagId",
  setType: "targetTypeId",
  removeType: undefined,
  requestAttributes: undefined,
};

/** A change of many targets: of those that a query means, with their number, or of those of a list. */
export const targetChangeRequest = withoutNulls(
  members.superRefine(({ action, q, confirm, controllerIds, ...subjects }, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
    if ((q === undefined) === (controllerIds === undefined)) issue("q", "either a query or controllerIds are needed");
    if ((q === undefined) !== (confirm === undefined)) issue("confirm", "a query, and only a query, needs the number of its targets");
    for (const name of ["tagId", "targetTypeId"] as const) {
      if ((subjectOf[action] === name) !== (subjects[name] !== undefined))
        issue(name, subjectOf[action] === name ? "is needed" : `does not belong to ${action}`);
    }
  }),
).meta({ id: "TargetChangeRequest" });
export type TargetChangeRequest = z.output<typeof members>;

/** Changes of many targets at once (contract console.md §4, M16). */
export const targetChanges = {
  change: route({
    id: "targets.change",
    service: "management",
    interface: "management",
    method: "POST",
    path: "/targets.bulk",
    body: targetChangeRequest,
    success: { spec: 202, rest: 202 },
    response: operationView,
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    errors: ["rsqlParamSyntax", "rsqlInvalidField", "constraintViolation", "entityNotFound", "concurrentModification"],
    summary: "Change tag, type or attributes request of many targets; 409 tells in `info.count` how many the query means",
    source: "contract console.md §4",
  }),
};

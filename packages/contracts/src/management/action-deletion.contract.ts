import { z } from "zod";
import { queryInt, queryText } from "../paging.ts";
import { routesOf } from "../route.ts";
import { arrayUpTo, bodyId, lookedUpText, pathId } from "../values.ts";
import { listErrors } from "./common.ts";

/** One request deletes at most so many actions; more actions take more requests. */
export const maxActionsPerRequest = 5_000;

/** The ids of actions; no body and an empty list mean the same. */
const ids = arrayUpTo(maxActionsPerRequest, bodyId).optional();

const common = {
  service: "management",
  interface: "management",
  method: "DELETE",
  // it answers without a body on every surface, like the cancellation of one action (contract management.md §1.8)
  success: { spec: 204, rest: 204 },
  permission: ["UPDATE_TARGET"],
  source: "contract rollouts.md §6.7",
} as const;

/** Deletes closed actions of all targets. */
export const actionDeletion = routesOf("actions", common, {
  delete: {
    path: "/actions/:actionId",
    params: z.object({ actionId: pathId }),
    errors: ["entityNotFound", "actionNotDeletable"],
    summary: "Delete a closed action with its history",
  },
  deleteMany: {
    path: "/actions",
    query: z.object({ q: queryText.meta({ description: "FIQL query", example: "status==finished;createdat=lt=0" }) }),
    body: ids,
    bodyKind: "optional-json",
    errors: [...listErrors, "constraintViolation", "entityNotFound", "actionNotDeletable", "quotaTooManyEntries", "concurrentModification"],
    summary: "Delete closed actions, all or none: either those of a query or those of a list of ids, at most 5,000",
  },
});

/** Deletes closed actions of one target. */
export const targetActionDeletion = routesOf("targets", common, {
  deleteActions: {
    path: "/targets/:targetId/actions",
    params: z.object({ targetId: lookedUpText }),
    // a number below 0 stands for not given
    query: z.object({ keepLast: queryInt(-1) }),
    body: ids,
    bodyKind: "optional-json",
    errors: ["constraintViolation", "entityNotFound", "actionNotDeletable"],
    summary: "Delete closed actions of a target: either those of a list of ids, all or none, or all but its newest `keepLast`",
  },
});

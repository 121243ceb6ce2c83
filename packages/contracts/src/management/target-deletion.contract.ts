import { z } from "zod";
import { routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { lookedUpText } from "../values.ts";
import { listErrors, neededInQuery } from "./common.ts";
import { operationView } from "./operations.contract.ts";

/** The query is required, so that nobody deletes all targets by leaving it out. */
const q = shownAs(neededInQuery(lookedUpText), {
  type: "string",
  minLength: 1,
  description: "FIQL query",
  example: "name==a*;createdat=gt=0",
});

const confirm = shownAs(
  neededInQuery(z.string()).pipe(
    z
      .string()
      .trim()
      .regex(/^\d{1,9}$/, "must be a number")
      .transform(Number),
  ),
  { type: "integer", format: "int32", minimum: 0, description: "How many targets the query means" },
);

/** Deletes any number of targets by a query; exactly those that were counted are deleted. */
export const targetDeletion = routesOf(
  "targets",
  { service: "management", interface: "management", source: "contract extensions.md" },
  {
    deleteByQuery: {
      method: "DELETE",
      path: "/targets",
      query: z.object({ q, confirm }),
      success: { spec: 204, rest: 204 },
      otherSuccess: { 202: "There are more than 1,000: the operation that deletes them" },
      response: operationView,
      permission: ["DELETE_TARGET"],
      errors: [...listErrors, "constraintViolation", "concurrentModification"],
      summary: "Delete the targets that a query means, if they are as many as confirmed; 409 tells how many in `info.count`",
    },
  },
);

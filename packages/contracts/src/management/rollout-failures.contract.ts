import { z } from "zod";
import { queryInt } from "../paging.ts";
import { firstUnlessEmpty } from "../query-text.ts";
import { ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";

/** Failures of a rollout that are the same but for numbers and the like in their message (contract console.md §2). */
export const rolloutFailure = z
  .object({
    /** The code that the devices gave; absent if they gave none. */
    code: z.int().optional(),
    /** The folded first message; absent if the devices gave none. */
    message: z.string().optional(),
    /** True for what is beyond the number that is told apart: neither code nor message then. */
    others: z.boolean().optional(),
    count: z.int().min(1),
    firstAt: z.int(),
    lastAt: z.int(),
    /** At most ten of the targets. */
    sample: z.array(z.string()),
  })
  .meta({ id: "RolloutFailure" });
export type RolloutFailure = z.output<typeof rolloutFailure>;

/** The most frequent kinds; `total` is the number of all kinds, which are counted with them. */
const failurePage = z.object({ content: z.array(rolloutFailure), total: z.int(), size: z.int() }).meta({ id: "RolloutFailurePage" });

/** Why a rollout fails (contract console.md §2). */
export const rolloutFailures = routesOf(
  "rollouts",
  { service: "rollout-engine", interface: "management", source: "contract console.md §2" },
  {
    failures: {
      method: "GET",
      path: "/rollouts/:rolloutId/failures",
      params: z.object({ rolloutId: pathId }),
      query: z.object({
        groupId: z.preprocess(firstUnlessEmpty, pathId.optional()),
        top: queryInt(50, (value) => (value < 1 ? 50 : Math.min(500, value))),
      }),
      success: ok,
      response: failurePage,
      // it names targets
      permission: ["READ_ROLLOUT", "READ_TARGET"],
      errors: ["constraintViolation", "entityNotFound"],
      summary: "List why targets of a rollout have failed, the most frequent first",
    },
  },
);

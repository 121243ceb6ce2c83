import { z } from "zod";
import { first } from "../query-text.ts";
import { ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { pathId } from "../values.ts";
import { totalsView } from "./rollout-view.ts";

const point = z.object({ at: z.int(), totalTargetsPerStatus: totalsView }).meta({ id: "RolloutProgressPoint" });

/** How the counts of a rollout have changed over time (contract console.md §2). */
export const rolloutProgressView = z
  .object({ step: z.int(), totalTargets: z.int(), points: z.array(point) })
  .meta({ id: "RolloutProgress" });
export type RolloutProgress = z.output<typeof rolloutProgressView>;

/** A century: what is beyond is no moment of a rollout, and minutes are kept in 32 bits. */
const maxMoment = 4_102_444_800_000;
const longestStep = 30 * 86_400;

const whole = (isAllowed: (value: number) => boolean, rule: string) =>
  z.preprocess(
    first,
    z
      .string()
      .regex(/^\d{1,15}$/, "must be a whole number, not below 0")
      .transform(Number)
      .refine(isAllowed, rule)
      .optional(),
  );

const moment = shownAs(
  whole((value) => value <= maxMoment, "must be a moment of this century in epoch milliseconds"),
  { type: "integer", format: "int64" },
);
const step = shownAs(
  whole((value) => value >= 60 && value <= longestStep && value % 60 === 0, "must be whole minutes in seconds, 30 days at most"),
  { type: "integer", format: "int32", minimum: 60, maximum: longestStep, multipleOf: 60 },
);

/** The series of the progress of a rollout. */
export const rolloutProgress = routesOf(
  "rollouts",
  { service: "rollout-engine", interface: "management", source: "contract console.md §2" },
  {
    progress: {
      method: "GET",
      path: "/rollouts/:rolloutId/progress",
      params: z.object({ rolloutId: pathId }),
      query: z.object({ from: moment, to: moment, step }),
      success: ok,
      response: rolloutProgressView,
      permission: ["READ_ROLLOUT"],
      errors: ["constraintViolation", "entityNotFound"],
      summary: "Get how the counts of a rollout have changed over time",
    },
  },
);

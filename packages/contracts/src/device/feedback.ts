import { z } from "zod";
import { shownAs } from "../shown-as.ts";
import { clampMoment } from "../values.ts";

/** The values of `status.execution`: six of spec 000 §2.5, and the two that rauc and hawkBit's SDK send. */
export const executions = ["closed", "proceeding", "canceled", "scheduled", "rejected", "resumed", "download", "downloaded"] as const;
export type Execution = (typeof executions)[number];

export const finishedResults = ["success", "failure", "none"] as const;
export type FinishedResult = (typeof finishedResults)[number];

/** Devices write numbers for texts and texts for numbers; both are read (contract device.md §1.2). */
export const looseText = z.preprocess(
  (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value),
  z.string(),
);

export const looseInteger = z.preprocess(
  (value) => (typeof value === "string" && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value),
  z.number().transform((value, context) => {
    if (!Number.isFinite(value)) context.addIssue({ code: "custom", message: "must be a number", params: { unreadable: true } });
    return Math.trunc(value);
  }),
);

/** Makes null count as absent for an optional member (contract device.md §1.2). */
export function absentWhenNull<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null || value === "" ? undefined : value), schema.optional());
}

/**
 * One report may have so many details and one request so many attributes, whatever the tenant's limits are: more are refused with the quota's error
 * before any of them is checked. The tenant's quota limits what a target holds altogether.
 */
export const maxReported = 1_000;

function refuseMore(n: number, of: string, context: z.RefinementCtx): void {
  if (n <= maxReported) return;
  const message = `Quota exceeded: Cannot assign ${n} more ${of} entities by one request. The maximum is ${maxReported}.`;
  context.addIssue({ code: "custom", message, params: { refusedAs: "quotaTooManyEntries" }, input: undefined });
}

const detail = z.preprocess((value) => (value === null ? "" : value), looseText);

/** A single text is read as an array of it. */
export const details = z
  .preprocess((value, context) => {
    if (!Array.isArray(value)) return value === undefined || value === null ? [] : [value];
    refuseMore(value.length, "Message", context);
    return value;
  }, z.array(detail))
  // a line may hold anything; the one character that cannot be stored must not make the device's report fail
  .transform((texts) => texts.filter((text) => text !== "").map((text) => text.replaceAll("\u0000", "\ufffd")));

/** A code that the device defines, of 32 bits. */
export const statusCode = shownAs(
  absentWhenNull(
    looseInteger.refine((value) => value >= -2_147_483_648 && value <= 2_147_483_647, {
      error: "must be a whole number of 32 bits",
      params: { unreadable: true },
    }),
  ),
  { type: "integer", format: "int32" },
);

/** Makes a documented member that is accepted whatever it holds. */
function ignored(shown: Record<string, unknown>) {
  return shownAs(z.unknown().optional(), shown);
}

/**
 * The feedback of a device on a deployment or a cancellation (spec 000 §2.5). One lenient parser reads both documented shapes: `id`, `time` and
 * `progress` are accepted and ignored, because real clients fill them with anything (contract device.md §5.1).
 */
export const feedbackBody = z
  .object({
    id: ignored({ type: "string" }),
    time: ignored({ type: "string", example: "20261121T120000" }),
    timestamp: shownAs(absentWhenNull(looseInteger.transform(clampMoment)), { type: "integer", format: "int64" }),
    status: z.object({
      execution: z.enum(executions),
      result: z.object({
        finished: z.enum(finishedResults),
        progress: ignored({ type: "object", properties: { cnt: { type: "integer" }, of: { type: "integer" } } }),
      }),
      code: statusCode,
      details,
    }),
  })
  .transform((body) => ({
    execution: body.status.execution,
    finished: body.status.result.finished,
    code: body.status.code,
    details: body.status.details,
    timestamp: body.timestamp,
  }))
  .meta({ id: "DeviceFeedback" });

/** A device's report, independent of the shape in which it came. */
export type Feedback = z.output<typeof feedbackBody>;

export const attributeModes = ["merge", "replace", "remove"] as const;
export type AttributeMode = (typeof attributeModes)[number];

const attributeValue = z.preprocess(
  (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value),
  z.string().nullable(),
);

/** Refuses too many attributes and the name `__proto__`, which is unsafe as a member. The sender is told, and nothing is left out silently. */
function checkMembers(data: unknown, context: z.RefinementCtx): unknown {
  if (typeof data !== "object" || data === null) return data;
  refuseMore(Object.keys(data).length, "Attribute", context);
  if (Object.hasOwn(data, "__proto__"))
    context.addIssue({ code: "custom", message: "must not have a member __proto__", params: { unreadable: true } });
  return data;
}

/** The attributes that a device sends (spec 000 §2.6); a null value removes the key. The owner checks the limits (contract device.md §8). */
export const configDataBody = z
  .object({
    mode: z.preprocess((value) => value ?? undefined, z.enum(attributeModes).default("merge")),
    data: z.preprocess(
      checkMembers,
      z.record(z.string(), attributeValue).refine((data) => Object.keys(data).length > 0, {
        error: "must not be empty",
        params: { unreadable: true },
      }),
    ),
  })
  .meta({ id: "DeviceAttributes" });

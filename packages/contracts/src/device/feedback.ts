import { z } from "zod";
import { shownAs } from "../shown-as.ts";
import { clampMoment } from "../values.ts";

/** Values of `status.execution`: six of spec 000 §2.5, and the two that rauc and hawkBit's SDK send. */
export const executions = ["closed", "proceeding", "canceled", "scheduled", "rejected", "resumed", "download", "downloaded"] as const;
export type Execution = (typeof executions)[number];

export const finishedResults = ["success", "failure", "none"] as const;
export type FinishedResult = (typeof finishedResults)[number];

/** Devices write numbers where texts belong and the reverse; both are read (contract device.md §1.2). */
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

/** null and absent are the same for an optional member (contract device.md §1.2). */
export function absentWhenNull<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null || value === "" ? undefined : value), schema.optional());
}

/**
 * Details of one report and attributes of one request at most, whatever the tenant's own limits are: more are refused with the quota's error before any
 * of them is looked at. What a target holds altogether is the tenant's quota.
 */
export const mostReported = 1_000;

function refuseMore(n: number, of: string, context: z.RefinementCtx): void {
  if (n <= mostReported) return;
  const message = `Quota exceeded: Cannot assign ${n} more ${of} entities by one request. The maximum is ${mostReported}.`;
  context.addIssue({ code: "custom", message, params: { refusedAs: "quotaTooManyEntries" }, input: undefined });
}

const detail = z.preprocess((value) => (value === null ? "" : value), looseText);

/** One text alone is an array of it. */
export const details = z
  .preprocess((value, context) => {
    if (!Array.isArray(value)) return value === undefined || value === null ? [] : [value];
    refuseMore(value.length, "Message", context);
    return value;
  }, z.array(detail))
  // a log line may hold anything; the one character that cannot be stored must not cost the device its report
  .transform((texts) => texts.filter((text) => text !== "").map((text) => text.replaceAll("\u0000", "\ufffd")));

/** A code of the device's own, 32 bits. */
export const statusCode = shownAs(
  absentWhenNull(
    looseInteger.refine((value) => value >= -2_147_483_648 && value <= 2_147_483_647, {
      error: "must be a whole number of 32 bits",
      params: { unreadable: true },
    }),
  ),
  { type: "integer", format: "int32" },
);

/** A documented member that is accepted whatever it holds. */
function ignored(shown: Record<string, unknown>) {
  return shownAs(z.unknown().optional(), shown);
}

/**
 * Feedback of a device on a deployment or a cancellation (spec 000 §2.5). Both documented shapes are one lenient parser: `id`, `time`
 * and `progress` are accepted and not looked at, since real clients fill them with anything (contract device.md §5.1).
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

/** What a device reported, whatever shape it came in. */
export type Feedback = z.output<typeof feedbackBody>;

export const attributeModes = ["merge", "replace", "remove"] as const;
export type AttributeMode = (typeof attributeModes)[number];

const attributeValue = z.preprocess(
  (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value),
  z.string().nullable(),
);

/** Too many attributes, and the member that no object can have without care everywhere: said to whom sends it, and not silently left out. */
function checkMembers(data: unknown, context: z.RefinementCtx): unknown {
  if (typeof data !== "object" || data === null) return data;
  refuseMore(Object.keys(data).length, "Attribute", context);
  if (Object.hasOwn(data, "__proto__"))
    context.addIssue({ code: "custom", message: "must not have a member __proto__", params: { unreadable: true } });
  return data;
}

/** Attributes that a device sends (spec 000 §2.6); a null value takes the key away. Limits: contract device.md §8, checked by the owner. */
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

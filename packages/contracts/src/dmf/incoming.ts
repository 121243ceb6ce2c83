import { z } from "zod";
import { attributeModes } from "../device/feedback.ts";

/** What a thing may say of an action (contract rollouts.md §8.3). */
export const dmfActionStatuses = [
  "DOWNLOAD",
  "RETRIEVED",
  "RUNNING",
  "WARNING",
  "DOWNLOADED",
  "FINISHED",
  "ERROR",
  "CANCELED",
  "CANCEL_REJECTED",
  "CONFIRMED",
  "DENIED",
] as const;
export type DmfActionStatus = (typeof dmfActionStatuses)[number];

/** Null stands for an absent member, as for hawkBit. */
const maybe = <T extends z.ZodType>(schema: T) => z.preprocess((value) => value ?? undefined, schema.optional());
/** Digits in quotes are the number that they show. */
const whole = z.preprocess((value) => (typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value), z.int());
const maxAttributes = 1_000;
const maxMessages = 1_000;

const value = z.preprocess(
  (given) => (typeof given === "number" || typeof given === "boolean" ? String(given) : given),
  z.string().nullable(),
);

/** Attributes of a thing, with a mode in upper or lower case. */
export const dmfAttributes = z.object({
  attributes: z
    .record(z.string(), value)
    .refine((all) => Object.keys(all).length <= maxAttributes, `must have at most ${maxAttributes} attributes`),
  mode: z.preprocess(
    (mode) => (typeof mode === "string" ? mode.toLowerCase() : (mode ?? undefined)),
    z.enum(attributeModes).default("merge"),
  ),
});
export type DmfAttributes = z.output<typeof dmfAttributes>;

/** The body of THING_CREATED. */
export const dmfThing = z.object({
  name: maybe(z.string().trim().min(1).max(128)),
  type: maybe(z.string().trim().max(128)),
  attributeUpdate: maybe(dmfAttributes),
});

/** The body of UPDATE_ACTION_STATUS; one message may come without a list. */
export const dmfActionUpdate = z.object({
  actionId: whole,
  actionStatus: z.enum(dmfActionStatuses),
  timestamp: maybe(whole),
  message: maybe(z.preprocess((given) => (typeof given === "string" ? [given] : given), z.array(z.string()).max(maxMessages))),
  code: maybe(whole.pipe(z.int32())),
});

/** The body of UPDATE_AUTO_CONFIRM. */
export const dmfAutoConfirm = z.object({
  enabled: z.boolean(),
  initiator: maybe(z.string().max(64)),
  remark: maybe(z.string().max(512)),
});

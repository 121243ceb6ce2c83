import { z } from "zod";
import { eventTypes } from "../events.ts";
import { ok, route } from "../route.ts";
import { lookedUpText, pathId } from "../values.ts";

/** A page has at most so many events. */
export const maxEvents = 1_000;
/** An answer waits at most so many seconds for the first event: less than the time that a request has. */
export const maxEventWait = 20;

const knownTypes: ReadonlySet<string> = new Set(Object.values(eventTypes));
const types = z
  .string()
  .max(1_000)
  .transform((list) => list.split(",").filter((type) => type !== ""))
  .refine((list) => list.every((type) => knownTypes.has(type)), { error: "is not a list of event types" });

const after = z.string().max(4_000).meta({ description: "A cursor of an earlier answer; without it events begin now" });

/** CloudEvents 1.0 in structured JSON, as on Kafka (contract rollouts.md §7.2). */
const cloudEventView = z
  .looseObject({ specversion: z.literal("1.0"), id: z.string(), source: z.string(), type: z.string(), subject: z.string() })
  .meta({ id: "CloudEvent" });

export const eventPage = z
  .object({
    content: z.array(cloudEventView),
    next: z.string().meta({ description: "The cursor behind these events: `after` of the next request" }),
    more: z.boolean().meta({ description: "Whether the next request finds events at once" }),
  })
  .meta({ id: "EventPage" });
export type EventPage = z.output<typeof eventPage>;

/** What happens to targets, actions and rollouts (contract extensions.md, Events; contract console.md, M07). */
export const events = {
  list: route({
    id: "events.list",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/events",
    query: z.object({
      after: after.optional(),
      types: types.optional(),
      limit: z.coerce.number().int().min(1).max(maxEvents).default(100),
      wait: z.coerce.number().int().min(0).max(maxEventWait).default(0),
    }),
    success: ok,
    response: eventPage,
    permission: ["READ_TARGET", "READ_ROLLOUT"],
    errors: ["eventCursorExpired", "insufficientPermission"],
    summary: "Read the events behind a cursor, and wait for the next ones",
    source: "contract extensions.md",
  }),
  stream: route({
    id: "events.stream",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/events/stream",
    query: z.object({
      after: after.optional(),
      types: types.optional(),
      changes: z
        .enum(["true", "false"])
        .default("false")
        .transform((text) => text === "true"),
      seconds: z.coerce.number().int().min(1).max(300).default(300),
      rollout: pathId.optional(),
      target: lookedUpText.optional(),
    }),
    success: ok,
    responseType: "text/event-stream",
    permission: ["READ_TARGET", "READ_ROLLOUT"],
    errors: ["eventCursorExpired", "insufficientPermission", "tooManyRequests"],
    summary: "Follow events, or the subjects that change, as server-sent events",
    source: "contract console.md, M07",
  }),
};

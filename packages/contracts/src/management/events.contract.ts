import { z } from "zod";
import { eventTypes } from "../events.ts";
import { queryFlag, queryInt } from "../paging.ts";
import { ok, routesOf } from "../route.ts";
import { lookedUpText, pathId } from "../values.ts";

/** A page has at most so many events, and at least room for two: one of each outbox. */
export const maxEvents = 1_000;
/** An answer waits at most so many seconds for the first event: less than the time that a request has. */
export const maxEventWait = 20;
/** A stream ends after at most so many seconds, so that a withdrawn permission ends it too. */
const maxSeconds = 300;

const knownTypes: ReadonlySet<string> = new Set(Object.values(eventTypes));
/** A list of event types in a body: a set that is not empty. */
export const eventTypeList = z
  .array(z.string().refine((type) => knownTypes.has(type), "is not an event type"))
  .min(1)
  .max(100)
  .transform((list) => [...new Set(list)]);

const types = z
  .string()
  .max(1_000)
  .transform((list) => list.split(",").filter((type) => type !== ""))
  .refine((list) => list.every((type) => knownTypes.has(type)), { error: "is not a list of event types" })
  // as an absent parameter, so that nobody waits for events of no type
  .transform((list) => (list.length === 0 ? undefined : list));

const after = z.string().max(12_000).meta({ description: "A cursor of an earlier answer; without it events begin now" });

/** CloudEvents 1.0 in structured JSON, as on Kafka (contract rollouts.md §7.2). */
const cloudEventView = z
  .looseObject({
    specversion: z.literal("1.0"),
    id: z.string(),
    source: z.string(),
    type: z.string(),
    subject: z.string(),
    time: z.string(),
    tenant: z.string(),
    sequence: z.string(),
    data: z.looseObject({}),
  })
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
export const events = routesOf(
  "events",
  { service: "management", interface: "management" },
  {
    list: {
      method: "GET",
      path: "/events",
      query: z.object({
        after: after.optional(),
        types: types.optional(),
        limit: queryInt(100, (value) => (value < 1 ? 100 : Math.max(2, Math.min(maxEvents, value)))),
        wait: queryInt(0, (value) => Math.max(0, Math.min(maxEventWait, value))),
      }),
      success: ok,
      response: eventPage,
      permission: ["READ_TARGET", "READ_ROLLOUT"],
      errors: ["constraintViolation", "eventCursorExpired", "insufficientPermission"],
      summary: "Read the events behind a cursor, and wait for the next ones",
      source: "contract extensions.md",
    },
    stream: {
      method: "GET",
      path: "/events/stream",
      query: z.object({
        after: after.optional(),
        types: types.optional(),
        changes: queryFlag,
        seconds: queryInt(maxSeconds, (value) => (value < 1 ? maxSeconds : Math.min(maxSeconds, value))),
        rollout: pathId.optional(),
        target: lookedUpText.optional(),
      }),
      success: ok,
      responseType: "text/event-stream",
      permission: ["READ_TARGET", "READ_ROLLOUT"],
      errors: ["constraintViolation", "eventCursorExpired", "insufficientPermission", "tooManyRequests"],
      summary: "Follow events, or the subjects that change, as server-sent events",
      source: "contract console.md, M07",
    },
  },
);

import { setTimeout as sleep } from "node:timers/promises";
import { type EventPage, events, type QueryOf } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import { HarrierError, lacksPermission } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import type { Changes } from "./changes.ts";
import { type Cursor, decodeCursor, encodeCursor } from "./cursor.ts";
import { EventStream } from "./event-stream.ts";
import { followChanges } from "./follow-changes.ts";
import { followEvents } from "./follow-events.ts";
import { cursorOfNow, type EventsRead, readEvents, requireKept, seesCatalogue } from "./read-events.ts";

export interface EventDeps {
  db: Database;
  changes: Changes;
  /** Events are kept for so many days. */
  eventDays: number;
  now: () => number;
}

/** At most so many streams are open at a replica; each takes some ten kilobytes. */
const maxStreams = 2_000;
const tooManyStreams = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "5" } });

/** Serves events by cursor and as a stream (contract extensions.md, Events; contract console.md, M07). */
export function mountEvents(mount: Mount, deps: EventDeps): void {
  mount(events.list, async (ctx) => {
    requireUnrestricted(ctx);
    const until = Math.min(deps.now() + ctx.query.wait * 1_000, ctx.deadline - answerMs);
    return { body: pageJson(await readOrWait(deps, ctx, { cursor: await cursorFor(deps, ctx.query.after), until })) };
  });

  let streams = 0;
  mount(events.stream, async (ctx) => {
    requireUnrestricted(ctx);
    if (streams >= maxStreams) throw tooManyStreams;
    streams += 1;
    try {
      // Browsers that connect again by themselves tell the last `id` in a header, which is newer than the cursor of the address.
      const cursor = await cursorFor(deps, ctx.req.get("last-event-id") ?? ctx.query.after);
      const stream = new EventStream(ctx.res, ctx.query.seconds);
      if (ctx.req.method === "HEAD") stream.end();
      else if (ctx.query.changes) await followChanges(deps, ctx, stream);
      else await followEvents(deps, ctx, { stream, cursor });
    } finally {
      streams -= 1;
    }
  });
}

/** The time that is left for the way of an answer after it has waited. */
const answerMs = 2_000;
/** A request that waits looks for events so often. */
const pollMs = 1_000;

/** Events, and figures that are kept for all targets together, are of targets of any type: a caller who sees some types only may not read them. */
export function requireUnrestricted({ identity }: Pick<RequestContext, "identity">, permissions = ["READ_TARGET", "READ_ROLLOUT"]): void {
  for (const permission of permissions) {
    if (scopeOf(identity, permission) !== null) throw lacksPermission([permission], "restricted");
  }
}

async function cursorFor(deps: EventDeps, after: string | undefined): Promise<Cursor> {
  if (after === undefined) return cursorOfNow(deps.db.pool, deps.now);
  const cursor = decodeCursor(after);
  requireKept(cursor, deps);
  return cursor;
}

type ListContext = Pick<RequestContext, "tenantId" | "req" | "identity"> & { query: QueryOf<typeof events.list> };

/** Reads pages until there is an event, and waits for one until `until` (epoch ms). */
async function readOrWait(
  deps: EventDeps,
  { tenantId, query, req, identity }: ListContext,
  { cursor, until }: { cursor: Cursor; until: number },
): Promise<EventsRead> {
  const types = query.types === undefined ? undefined : new Set(query.types);
  for (let from = cursor; ; ) {
    const read = await readEvents(
      deps.db.pool,
      { tenantId, cursor: from, types, limit: query.limit, catalogue: seesCatalogue(identity) },
      deps.now,
    );
    const left = until - deps.now();
    if (read.events.length > 0 || left <= 0 || req.destroyed) return read;
    from = read.cursor;
    if (!read.more) await sleep(Math.min(pollMs, left));
  }
}

const pageJson = ({ events: content, cursor, more }: EventsRead): EventPage => ({
  content: content as EventPage["content"],
  next: encodeCursor(cursor),
  more,
});

import type { Database } from "@harrier/db";
import type { RequestContext } from "@harrier/service";
import type { Changes } from "./changes.ts";
import { type Cursor, encodeCursor } from "./cursor.ts";
import type { EventStream } from "./event-stream.ts";
import { readEvents, seesCatalogue } from "./read-events.ts";

interface Deps {
  readonly db: Database;
  readonly changes: Changes;
  readonly now: () => number;
}

interface Query {
  types?: readonly string[] | undefined;
}

const pageSize = 100;

/** Sends a client the events behind a cursor as they come, as fast as it reads them, until the stream ends. */
export async function followEvents(
  deps: Deps,
  { tenantId, query, identity }: Pick<RequestContext, "tenantId" | "identity"> & { query: Query },
  { stream, cursor }: { stream: EventStream; cursor: Cursor },
): Promise<void> {
  const catalogue = seesCatalogue(identity);
  const types = query.types === undefined ? undefined : new Set(query.types);
  let wake: () => void = () => {};
  const leave = deps.changes.listen({ tenantId, changed: () => wake(), ended: stream.end });
  void stream.ended.then(() => wake());
  stream.sendPosition(encodeCursor(cursor));
  try {
    for (let from = cursor; stream.open; ) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const read = await readEvents(deps.db.pool, { tenantId, cursor: from, types, limit: pageSize, catalogue }, deps.now);
      const last = read.events.length - 1;
      // only the last event of a page has the cursor behind it: a client that breaks off before gets the page again
      for (const [i, event] of read.events.entries()) stream.send("event", event, i === last ? encodeCursor(read.cursor) : undefined);
      from = read.cursor;
      if (stream.full) await untilRead(stream);
      else if (!read.more) await woken;
    }
  } finally {
    leave();
  }
}

function untilRead(stream: EventStream): Promise<void> {
  return new Promise((resolve) => {
    stream.whenRead(resolve);
    void stream.ended.then(resolve);
  });
}

import { randomUUID } from "node:crypto";
import { type Database, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { CloudEvent } from "@harrier/events";
import { backOff, type LeaseOptions, Leases } from "@harrier/jobs";
import type { Changes } from "../events/changes.ts";
import { decodeCursor, encodeCursor } from "../events/cursor.ts";
import { createNoticedTenants } from "../events/noticed-tenants.ts";
import { cursorOfNow, type EventsRead, readEvents, requireKept } from "../events/read-events.ts";
import { claimPublications, notifyPublications, type PublicationClaim, publishingTenants, storePublication } from "./publications.sql.ts";
import type { StreamMessage, StreamPublisher } from "./stream-publisher.ts";

export interface PublicationDeps {
  readonly db: Pick<Database, "pool">;
  /** Undefined where the installation has no broker: then nothing is claimed. */
  readonly publisher: StreamPublisher | undefined;
  readonly changes: Pick<Changes, "listen">;
  readonly eventDays: number;
  readonly now: () => number;
  readonly fault: (name: "management.sie.before-confirm" | "management.sie.after-confirm") => unknown;
  readonly log: { warn(fields: object, message: string): void };
}

/** So many events are read and published at a time. */
const pageSize = 500;
/** After so long no page is begun any more, so that other tenants get their turn. */
const pagesMs = 15_000;
/** A page is published within that time, or not at all: the lease is longer, so that nobody publishes beside it. */
const publishWithinMs = 10_000;
/** A tenant without new events is looked at again after so long, if nobody has noticed any. */
const idleMs = 15_000;
const retries = { firstMs: 500, maxMs: 30_000 };

/**
 * Publishes the events of tenants that have enabled SIE to `sie.exchange` of their virtual hosts: at least once, and in the order in which they are read
 * by cursor, which is that of the changes of each subject. The position moves when the broker has confirmed a page. What it does not take is published
 * again, ever more seldom, and the events of this tenant alone wait.
 */
export function createPublications(deps: PublicationDeps, options: LeaseOptions): Leases<PublicationClaim> {
  const owner = randomUUID();
  const { pool } = deps.db;
  const noticed = createNoticedTenants(deps.changes, () => leases.wake());
  const leases = new Leases<PublicationClaim>(
    {
      async notice() {
        if (deps.publisher === undefined) return;
        noticed.listenTo((await run(pool, publishingTenants, [])).map(({ tenantId }) => tenantId));
      },
      async claim(free) {
        if (deps.publisher === undefined) return [];
        const told = noticed.take();
        if (told.length > 0) await run(pool, notifyPublications, [told]);
        return run(pool, claimPublications, [owner, options.leaseSeconds, free]);
      },
      work: (claim, signal) => publish(deps, { claim, owner, leaseSeconds: options.leaseSeconds, signal }),
      // the lease ends by itself, and another round tries again
      failed: async () => {},
      failures: {
        claim: "tenants with an event stream cannot be looked for, trying again",
        work: "events could not be published, trying again",
      },
    },
    options,
  );
  return leases;
}

interface Publication {
  readonly claim: PublicationClaim;
  readonly owner: string;
  readonly leaseSeconds: number;
  readonly signal: AbortSignal;
}

/** Publishes pages of events until there are no more, one is not taken, or the time is over. */
async function publish(deps: PublicationDeps, { claim, owner, leaseSeconds, signal }: Publication): Promise<void> {
  const { tenantId, notifications } = claim;
  const until = deps.now() + pagesMs;
  const store = (position: string | null, failed: boolean, restMs: number | null) =>
    runOne(deps.db.pool, storePublication, [tenantId, owner, position, failed, restMs, notifications, leaseSeconds]);
  for (let { position, attempts } = claim; ; attempts = 0) {
    const page = await nextPage(deps, { tenantId, position });
    try {
      await publishPage(deps, claim, page.events);
    } catch (error) {
      // each tenant's outage is logged once, and says which one it is
      if (attempts === 0)
        deps.log.warn({ err: error, tenant: claim.tenant, vhost: claim.vhost }, "events could not be published to a virtual host");
      await store(position, true, backOff(attempts + 1, retries));
      return;
    }
    const goesOn = page.more || page.events.length > 0;
    const over = signal.aborted || deps.now() >= until;
    const restMs = goesOn ? (over ? 0 : null) : idleMs;
    position = encodeCursor(page.cursor);
    const stored = await store(position, false, restMs);
    if (stored === undefined || restMs !== null) return;
  }
}

async function publishPage(deps: PublicationDeps, { tenant, vhost }: PublicationClaim, events: readonly CloudEvent[]): Promise<void> {
  if (events.length === 0) return;
  await deps.fault("management.sie.before-confirm");
  await deps.publisher?.publish(
    vhost,
    events.map((event) => messageOf(tenant, event)),
    deps.now() + publishWithinMs,
  );
  await deps.fault("management.sie.after-confirm");
}

/** Reads the next events; where they are gone already, it goes on with what happens from now on. */
async function nextPage(deps: PublicationDeps, { tenantId, position }: { tenantId: number; position: string | null }): Promise<EventsRead> {
  const { pool } = deps.db;
  const fromNow = async (): Promise<EventsRead> => ({ events: [], cursor: await cursorOfNow(pool, deps.now), more: true });
  if (position === null) return fromNow();
  try {
    const cursor = decodeCursor(position);
    requireKept(cursor, deps);
    return await readEvents(pool, { tenantId, cursor, limit: pageSize, catalogue: true }, deps.now);
  } catch (error) {
    if (!(error instanceof HarrierError) || error.code !== "eventCursorExpired") throw error;
    deps.log.warn({ tenantId }, "events of a tenant were not published in time and are gone; its stream goes on with what happens now");
    return fromNow();
  }
}

/** A CloudEvent in structured JSON; its type is the routing key, so that readers bind what they want. */
export function messageOf(tenant: string, event: CloudEvent): StreamMessage {
  const { id, type, subject, sequence, time } = event as CloudEvent & { id: string; subject: string; sequence: string; time: string };
  return {
    routingKey: type,
    content: Buffer.from(JSON.stringify(event)),
    options: {
      contentType: "application/cloudevents+json; charset=UTF-8",
      messageId: id,
      type,
      timestamp: Math.floor(Date.parse(time) / 1_000),
      persistent: true,
      headers: { tenant, subject, sequence },
    },
  };
}

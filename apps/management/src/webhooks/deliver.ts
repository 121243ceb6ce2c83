import { type Database, run, runOne, type SecretBox } from "@harrier/db";
import type { Egress } from "@harrier/egress";
import { HarrierError } from "@harrier/errors";
import type { CloudEvent } from "@harrier/events";
import { backOff, type LeaseOptions, Leases } from "@harrier/jobs";
import type { Changes } from "../events/changes.ts";
import { type Cursor, decodeCursor, encodeCursor } from "../events/cursor.ts";
import { createNoticedTenants } from "../events/noticed-tenants.ts";
import { cursorOfNow, readEvents, requireKept } from "../events/read-events.ts";
import {
  claimWebhooks,
  listeningTenants,
  lostLeases,
  notifyWebhooks,
  type Outcome,
  skipEvents,
  storeOutcome,
  type WebhookClaim,
} from "./delivery.sql.ts";
import { type Attempt, type Receiver, type Sendable, sendEvent } from "./send-event.ts";

export interface DeliveryDeps {
  readonly db: Pick<Database, "pool">;
  readonly secrets: Pick<SecretBox, "open">;
  readonly egress: Egress;
  readonly changes: Pick<Changes, "listen">;
  readonly eventDays: number;
  readonly now: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

/** So many events are read at a time, and of these so many are under way to one receiver. */
const pageSize = 100;
const atATime = 4;
/** One tenant has so many webhooks under way at a time, over all replicas. */
const perTenant = 4;
/** After so long no more events of a page are begun: with the time that the last one has, it ends before its lease. */
const pageMs = 20_000;
/** A webhook with nothing to send is looked at again after so long, if nobody has noticed an event. */
const idleMs = 15_000;
const retries = { firstMs: 5_000, maxMs: 60 * 60_000 };
const hourSeconds = 60 * 60;
const daySeconds = 24 * hourSeconds;
/** Deliveries that fail for so long end the webhook. */
const disableAfter = 3 * daySeconds;
/** … but always so long before the events that wait for it are gone, so that whoever is told of it can enable it again without a loss. */
const reserve = 6 * hourSeconds;
/** Whoever answers so is gone for good (Standard Webhooks). */
const goneStatus = 410;

/**
 * Delivers events to webhooks: at least once, and those about one target, rollout, set or module in the order of their changes, because the next one
 * waits until the one before has been accepted. Any number of processes share the work by leases. What is not accepted is sent again, ever more
 * seldom, and the events behind it wait.
 */
export function createDeliveries(deps: DeliveryDeps, options: LeaseOptions): Leases<WebhookClaim> {
  const { pool } = deps.db;
  const noticed = createNoticedTenants(deps.changes, () => leases.wake());
  const underWay: UnderWay = new Map();
  const leases = new Leases<WebhookClaim>(
    {
      async notice() {
        // without a free place nothing is claimed, and nobody else would look
        if (underWay.size >= options.slots) await endLost(pool, underWay);
        noticed.listenTo((await run(pool, listeningTenants, [])).map(({ tenantId }) => tenantId));
      },
      async claim(free) {
        const told = noticed.take();
        if (told.length > 0) await run(pool, notifyWebhooks, [told]);
        await endLost(pool, underWay);
        return run(pool, claimWebhooks, [options.leaseSeconds, free, perTenant, [...underWay.keys()].map(({ tenantId }) => tenantId)]);
      },
      async work(claim, stopping) {
        const lost = new AbortController();
        underWay.set(claim, lost);
        const signal = AbortSignal.any([stopping, lost.signal]);
        await deliver(deps, { claim, leaseSeconds: options.leaseSeconds, signal }).finally(() => underWay.delete(claim));
      },
      // the lease ends by itself, and another round tries again
      failed: async () => {},
      failures: { claim: "webhooks cannot be looked for, trying again", work: "a webhook could not be delivered to, trying again" },
    },
    options,
  );
  return leases;
}

/** The deliveries of this process, with what ends them. */
type UnderWay = Map<WebhookClaim, AbortController>;

/** Ends the pages of webhooks that were changed meanwhile, here or at another replica: nothing more goes where nobody wants it. */
async function endLost(pool: Database["pool"], underWay: UnderWay): Promise<void> {
  if (underWay.size === 0) return;
  const claims = [...underWay.keys()];
  const of = <Member extends keyof WebhookClaim>(member: Member) => claims.map((claim) => claim[member]);
  const lost = new Set((await run(pool, lostLeases, [of("tenantId"), of("webhookId"), of("owner")])).map(({ owner }) => owner));
  for (const [claim, end] of underWay) if (lost.has(claim.owner)) end.abort();
}

interface Delivery {
  readonly claim: WebhookClaim;
  readonly leaseSeconds: number;
  readonly signal: AbortSignal;
}

/** Sends pages of events until there are no more, one is not accepted, or the time is over. */
async function deliver(deps: DeliveryDeps, { claim, leaseSeconds, signal }: Delivery): Promise<void> {
  const { tenantId, webhookId, owner } = claim;
  const receiver: Receiver = { tenant: claim.tenant, url: claim.url, secret: deps.secrets.open(claim.secret) };
  const until = deps.now() + pageMs;
  let { position, delivered, failed: failures, attempts } = claim;
  for (let restMs: number | null = null; restMs === null; ) {
    const page = await nextPage(deps, { ...claim, position });
    if (page === undefined) {
      const now = await skip(deps, { claim, position });
      if (now === undefined) return;
      [position, delivered, failures] = [now, [], {}];
      continue;
    }
    const open = page.events.filter(({ id }) => !delivered.includes(id));
    const sent = await sendPage(deps, receiver, { events: open, failures, until, signal });
    const failed = sent.find((one) => !one.delivered);
    const accepted = new Set([...delivered, ...sent.filter((one) => one.delivered).map(({ eventId }) => eventId)]);
    const whole = page.events.every(({ id }) => accepted.has(id));
    const outcome: Outcome = {
      position: whole ? encodeCursor(page.cursor) : position,
      delivered: whole ? [] : page.events.map(({ id }) => id).filter((id) => accepted.has(id)),
      failed: whole ? {} : failuresAfter(failures, sent),
      log: sent.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
      error: failed?.error ?? null,
      // what an end has cut, of this process, of the lease or of the time, says nothing of the receiver
      untold: sent.length === 0 && open.length > 0,
      restMs: restOf({ failed, attempts, whole, more: page.more || page.events.length > 0, over: signal.aborted || deps.now() >= until }),
    };
    const gone = failed?.status === goneStatus;
    const stored = await store(deps, { tenantId, webhookId, owner, leaseSeconds, notifications: claim.notifications }, { outcome, gone });
    if (!stored) return;
    ({ position, delivered, failed: failures, restMs } = outcome);
    if (!outcome.untold) attempts = 0;
  }
}

/** Counts the failures of the events that still wait. */
function failuresAfter(before: Readonly<Record<string, number>>, sent: readonly Attempt[]): Record<string, number> {
  const accepted = new Set(sent.filter((one) => one.delivered).map(({ eventId }) => eventId));
  const failed = sent.filter((one) => !one.delivered).map((one): [string, number] => [one.eventId, one.attempt]);
  return Object.fromEntries([...Object.entries(before).filter(([id]) => !accepted.has(id)), ...failed]);
}

/** How long a webhook rests after a page; null stands for the next page at once. */
function restOf(page: { failed: Attempt | undefined; attempts: number; whole: boolean; more: boolean; over: boolean }): number | null {
  if (page.failed !== undefined) return backOff(page.attempts + 1, retries) * (0.9 + Math.random() * 0.2);
  if (!page.whole || (page.more && page.over)) return 0;
  return page.more ? null : idleMs;
}

/** A cursor and the events behind it, each with the members that the log shows. */
interface Page {
  readonly events: readonly (CloudEvent & Sendable)[];
  readonly cursor: Cursor;
  readonly more: boolean;
}

/** Reads the next events; undefined where they may be gone already. */
async function nextPage(
  deps: DeliveryDeps,
  { tenantId, position, types }: Pick<WebhookClaim, "tenantId" | "position" | "types">,
): Promise<Page | undefined> {
  const { pool } = deps.db;
  try {
    const cursor = decodeCursor(position);
    requireKept(cursor, deps);
    const wanted = types === null ? undefined : new Set(types);
    return (await readEvents(pool, { tenantId, cursor, types: wanted, limit: pageSize, catalogue: true }, deps.now)) as Page;
  } catch (error) {
    if (!(error instanceof HarrierError) || error.code !== "eventCursorExpired") throw error;
    return undefined;
  }
}

/**
 * Goes on with what happens from now on, because the events behind the position are gone: the log of deliveries says so, and so does an event, which the
 * receiver gets too. Answers the new position, or undefined if the lease is lost.
 */
async function skip(deps: DeliveryDeps, { claim, position }: { claim: WebhookClaim; position: string }): Promise<string | undefined> {
  const { tenantId, tenant, webhookId, owner } = claim;
  const next = await cursorOfNow(deps.db.pool, deps.now);
  const from = new Date(decodeCursor(position).at).toISOString();
  const to = new Date(next.at).toISOString();
  const row = await runOne(deps.db.pool, skipEvents, [tenantId, webhookId, owner, encodeCursor(next), from, to]);
  if (row === undefined) return undefined;
  deps.log.warn(
    { tenant, webhookId, from, to },
    "events were not delivered to a webhook before they were gone; it goes on with what happens now",
  );
  return encodeCursor(next);
}

/** What events are in order by: the target, rollout, set or module that they are about. */
const keyOf = ({ subject }: Sendable): string => subject.split("/", 2).join("/");

interface ToSend {
  readonly events: readonly (CloudEvent & Sendable)[];
  readonly failures: Readonly<Record<string, number>>;
  readonly until: number;
  readonly signal: AbortSignal;
}

/** Sends events, those of one key one after the other, and of several keys some at a time. With the first failure none is begun any more. */
async function sendPage(
  deps: Pick<DeliveryDeps, "egress" | "now">,
  receiver: Receiver,
  { events, failures, until, signal }: ToSend,
): Promise<Attempt[]> {
  const queues = [...Map.groupBy(events, keyOf).values()];
  const sent: Attempt[] = [];
  let ended = false;
  const sendQueues = async (): Promise<void> => {
    for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
      for (const event of queue) {
        if (ended || signal.aborted || deps.now() >= until) return;
        const one = await sendEvent(deps, receiver, { event, attempt: (failures[event.id] ?? 0) + 1, signal });
        // what the end of this process or of the lease has cut says nothing of the receiver
        if (!one.delivered && signal.aborted) return;
        sent.push(one);
        if (!one.delivered) {
          ended = true;
          return;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, sendQueues));
  return sent;
}

interface Held {
  readonly tenantId: number;
  readonly webhookId: number;
  readonly owner: string;
  readonly leaseSeconds: number;
  readonly notifications: number;
}

/** Stores what came of a page; false means that the lease is lost, or that the webhook has ended. */
async function store(
  deps: Pick<DeliveryDeps, "db" | "eventDays" | "now">,
  held: Held,
  { outcome, gone }: { outcome: Outcome; gone: boolean },
): Promise<boolean> {
  const row = await runOne(deps.db.pool, storeOutcome, [
    held.tenantId,
    held.webhookId,
    held.owner,
    outcome.position,
    outcome.delivered,
    JSON.stringify(outcome.log),
    outcome.error,
    outcome.restMs,
    held.notifications,
    Math.min(disableAfter, deps.eventDays * daySeconds - reserve),
    held.leaseSeconds,
    gone,
    JSON.stringify(outcome.failed),
    outcome.untold,
    new Date(deps.now()),
  ]);
  return row?.enabled === true;
}

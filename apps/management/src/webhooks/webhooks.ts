import { maxWebhooks, type WebhookCreate, type WebhookUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runCount, runOne, type SecretBox } from "@harrier/db";
import { type Allowed, checkUrl, type Egress, EgressError } from "@harrier/egress";
import { entityNotFound, HarrierError, quotaExceeded, violationsInfo } from "@harrier/errors";
import { type IfMatch, unmatched } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { decodeCursor, encodeCursor } from "../events/cursor.ts";
import { cursorOfNow, requireKept } from "../events/read-events.ts";
import { type Attempt, sendEvent } from "./send-event.ts";
import { newSecret } from "./signature.ts";
import {
  type DeliveryRow,
  deleteWebhook,
  findWebhook,
  insertWebhooks,
  listDeliveries,
  listWebhooks,
  lockTenantForWebhook,
  logTest,
  replayWebhook,
  updateWebhook,
  type WebhookRow,
} from "./webhooks.sql.ts";

export interface WebhookDeps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  secrets: SecretBox;
  egress: Egress;
  /** What addresses of our own network tenants may name. */
  egressAllowed: Allowed;
  eventDays: number;
  wakeWebhooks: () => void;
  now: () => number;
}

/** An actor with the canonical name of the tenant. */
type Caller = Actor & { readonly tenant: string };

/** Lists all webhooks of a tenant. */
export function listAll(deps: Pick<WebhookDeps, "db">, tenantId: number): Promise<WebhookRow[]> {
  return run(deps.db.pool, listWebhooks, [tenantId]);
}

/** Returns one webhook; throws entityNotFound. */
export async function getWebhook(deps: Pick<WebhookDeps, "db">, tenantId: number, id: number): Promise<WebhookRow> {
  return found(await runOne(deps.db.pool, findWebhook, [tenantId, id]), id);
}

/** Creates webhooks, all or none, with their secrets, which are shown here alone. What happens from now on is sent to them. */
export async function createWebhooks(
  deps: WebhookDeps,
  actor: Caller,
  input: readonly WebhookCreate[],
): Promise<(WebhookRow & { secret: string })[]> {
  for (const [i, { url }] of input.entries()) requireAddress(deps, actor.tenant, { url, path: `${i}.url` });
  if (input.length > maxWebhooks) throw tooMany(input.length);
  const webhooks: (WebhookCreate & { id: number; secret: string })[] = [];
  // ids come from a block in memory
  for (const one of input) webhooks.push({ ...one, id: await deps.ids.next(actor.tenantId, "webhook"), secret: one.secret ?? newSecret() });
  const rows = webhooks.map((one) => ({ ...one, secret: deps.secrets.seal(one.secret).toString("hex") }));
  const position = encodeCursor(await cursorOfNow(deps.db.pool, deps.now));
  const stored = await inTransaction(deps.db.pool, async (tx) => {
    await runOne(tx, lockTenantForWebhook, [actor.tenantId]);
    return run(tx, insertWebhooks, [actor.tenantId, JSON.stringify(rows), position, actor.subject]);
  });
  if (stored.length < webhooks.length) throw tooMany(webhooks.length);
  deps.wakeWebhooks();
  return stored.map((row, i) => ({ ...row, secret: webhooks[i]?.secret as string }));
}

/** Changes a webhook; absent members stay as they are. */
export async function changeWebhook(
  deps: WebhookDeps,
  actor: Caller,
  { id, change, ifMatch }: { id: number; change: WebhookUpdate; ifMatch?: IfMatch },
): Promise<WebhookRow> {
  const { name, description, url, types, enabled, secret } = change;
  if (url !== undefined) requireAddress(deps, actor.tenant, { url, path: "url" });
  const sealed = secret === undefined ? null : deps.secrets.seal(secret);
  const row = await runOne(deps.db.pool, updateWebhook, [
    actor.tenantId,
    id,
    name ?? null,
    description ?? null,
    url ?? null,
    types ?? null,
    enabled ?? null,
    sealed,
    actor.subject,
    ifMatch ?? null,
  ]);
  if (row === undefined) throw await missed(deps, { tenantId: actor.tenantId, id, ifMatch });
  deps.wakeWebhooks();
  return row;
}

/** Deletes a webhook with its log. */
export async function removeWebhook(
  deps: Pick<WebhookDeps, "db">,
  { tenantId }: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  const gone = await runCount(deps.db.pool, deleteWebhook, [tenantId, id, ifMatch ?? null]);
  if (gone === 0) throw await missed(deps, { tenantId, id, ifMatch });
}

const missed = ({ db }: Pick<WebhookDeps, "db">, { tenantId, id, ifMatch }: { tenantId: number; id: number; ifMatch: IfMatch }) =>
  unmatched(ifMatch, entityNotFound("Webhook", id), () => runOne(db.pool, findWebhook, [tenantId, id]));

/** Sends the events behind a cursor again; throws eventCursorExpired if they may be gone. */
export async function replay(deps: WebhookDeps, actor: Actor, { id, after }: { id: number; after: string }): Promise<WebhookRow> {
  const cursor = decodeCursor(after);
  requireKept(cursor, deps);
  const row = await runOne(deps.db.pool, replayWebhook, [actor.tenantId, id, encodeCursor(cursor), actor.subject]);
  deps.wakeWebhooks();
  return found(row, id);
}

/** Sends a test event to a webhook, also to one that is disabled; the log has the attempt. */
export async function testWebhook(deps: WebhookDeps, actor: Caller, id: number): Promise<Attempt> {
  const webhook = await runOne(deps.db.pool, findWebhook, [actor.tenantId, id]);
  const { url, secret } = found(webhook, id) as WebhookRow & { secret: Buffer };
  const at = deps.now();
  const event = {
    specversion: "1.0",
    id: `webhook-test-${id}-${at}`,
    source: `/tenants/${actor.tenant}/updates`,
    type: "io.update.webhook.tested.v1",
    subject: `webhooks/${id}`,
    time: new Date(at).toISOString(),
    tenant: actor.tenant,
    sequence: "1",
    datacontenttype: "application/json",
    data: { tenant: actor.tenant, webhookId: id, recordedAt: at },
  };
  const attempt = await sendEvent(deps, { tenant: actor.tenant, url, secret: deps.secrets.open(secret) }, { event, attempt: 1 });
  await runCount(deps.db.pool, logTest, [actor.tenantId, id, JSON.stringify(attempt)]);
  return attempt;
}

/** Lists the newest attempts to deliver events; throws entityNotFound. */
export async function deliveriesOf(
  deps: Pick<WebhookDeps, "db">,
  tenantId: number,
  { id, limit }: { id: number; limit: number },
): Promise<DeliveryRow[]> {
  await getWebhook(deps, tenantId, id);
  return run(deps.db.pool, listDeliveries, [tenantId, id, limit]);
}

function requireAddress(
  { egressAllowed }: Pick<WebhookDeps, "egressAllowed">,
  tenant: string,
  { url, path }: { url: string; path: string },
): void {
  try {
    checkUrl(url, tenant, egressAllowed);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new HarrierError("constraintViolation", error.message, {
      info: violationsInfo([{ path, problem: "is not an address that may be called" }]),
    });
  }
}

const tooMany = (n: number): HarrierError => quotaExceeded({ n, of: "Webhook", owner: "Tenant", limit: maxWebhooks });

function found<Row extends WebhookRow>(row: Row | undefined, id: number): Row {
  if (row === undefined) throw entityNotFound("Webhook", id);
  return row;
}

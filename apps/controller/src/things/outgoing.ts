import { isReplyExchange } from "@harrier/contracts";
import { type Database, run, runOne, type SecretBox } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { DeviceMessageInput, ReadDeviceMessagesRequest, ReadDeviceMessagesResponseInput } from "@harrier/rpc";
import { LinesPerMinute } from "@harrier/service";
import type { ArtifactLinkSettings } from "../artifacts/artifact-links.ts";
import type { ChunkTemplate, DeploymentDocuments } from "../deployment/documents.ts";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { Batches } from "./batches.ts";
import { catchUp, type Tenant, withBehind } from "./behind.ts";
import { actionMessage, maxBodyBytes, type ThingFacts, type Told, windowMessage } from "./messages.ts";
import { type OutgoingRow, type Position, readOutgoing, takeLease } from "./outgoing.sql.ts";
import { readMessagingTenants, readThings, type ThingRow } from "./things.sql.ts";
import { type Trigger, triggersOf } from "./triggers.ts";

export interface OutgoingDeps {
  db: Database;
  settings: Pick<TenantSettingsCache, "get">;
  documents: DeploymentDocuments;
  links: ArtifactLinkSettings;
  secrets: Pick<SecretBox, "open">;
  now: () => number;
  log: { warn(fields: object, message: string): void };
}

/** A replica that does not come back for so long has lost the lease; it does not publish any more before that (apps/dmf). */
const leaseSeconds = 15;
/** A call looks at so many rows of the outbox, and takes so many of them and so many triggers out of them. */
const maxScanned = 5_000;
const maxRows = 200;
const maxTriggers = 250;
/**
 * An answer has so many bytes of bodies, but one message at least: with the largest one more it is below what gRPC takes (packages/rpc). All tenants wait
 * for each answer's messages, so that a few large ones in each would take all of them long.
 */
const maxBytes = 6_000_000;

/** A trigger, and the position behind it. */
interface Placed {
  readonly trigger: Trigger;
  readonly behind: Position;
}

/**
 * Answers what has to be sent to things next, in the order of the changes. The outbox says who is to be told; what it is told is what is true now, so
 * that a message that was late is not wrong. Several triggers of one thing in a call become one message. The position moves when its messages are
 * confirmed, so that none is lost, and one may be sent twice.
 */
export async function readDeviceMessages(
  deps: OutgoingDeps,
  { holder, confirmed, baseUrl, dropped, connected, full, resting }: ReadDeviceMessagesRequest,
): Promise<ReadDeviceMessagesResponseInput> {
  const lease = await runOne(deps.db.pool, takeLease, [
    holder,
    confirmed === "" ? null : withBehind(confirmed, { dropped, full }, deps.now()),
    leaseSeconds,
  ]);
  if (lease === undefined) return { leading: false, messages: [], position: "", more: false };
  const { position } = lease;
  const tenants = await run(deps.db.pool, readMessagingTenants, []);
  const { seen = null, upTo = null, row = null } = position;
  const ids = tenants.map(({ tenantId }) => tenantId);
  const kept = await catchUp(deps, { holder, position, tenants, connected, resting });
  const rows = await run(deps.db.pool, readOutgoing, [seen, upTo, row, ids, maxScanned, maxRows]);
  const { placed, end } = place(rows, position);
  const answer = await compose(deps, { placed, tenants, baseUrl });
  const behind = answer.stoppedAt ?? end;
  return {
    leading: true,
    messages: answer.messages,
    position: JSON.stringify({ ...behind, ...kept, from: seen ?? end.seen }),
    more: behind.upTo !== undefined,
  };
}

/** Finds the triggers in rows, and the position behind all of them. */
function place(rows: readonly OutgoingRow[], from: Position): { placed: Placed[]; end: Position } {
  const [first] = rows;
  if (first === undefined) return { placed: [], end: from };
  const { upTo, scanned, lastRow } = first;
  const seen = from.seen ?? upTo;
  const found = rows.filter((row) => row.id !== null);
  const placed: Placed[] = [];
  for (const row of found) {
    const id = row.id as string;
    const all = triggersOf(row);
    for (let item = id === from.row ? (from.item ?? 0) : 0; item < all.length; item += 1) {
      if (placed.length >= maxTriggers) return { placed, end: { seen, upTo, row: id, item } };
      for (const trigger of all[item] ?? []) placed.push({ trigger, behind: { seen, upTo, row: id, item: item + 1 } });
    }
  }
  if (found.length === maxRows) return { placed, end: { seen, upTo, row: next(found.at(-1)?.id ?? "0") } };
  if (scanned === maxScanned && lastRow !== null) return { placed, end: { seen, upTo, row: next(lastRow) } };
  return { placed, end: { seen: upTo } };
}

const next = (id: string): string => String(BigInt(id) + 1n);
const keyOf = ({ tenantId, controllerId }: Pick<Trigger, "tenantId" | "controllerId">): string => `${tenantId}/${controllerId}`;

interface Work {
  placed: readonly Placed[];
  tenants: readonly Tenant[];
  baseUrl: string;
}

async function compose(
  deps: OutgoingDeps,
  { placed, tenants, baseUrl }: Work,
): Promise<{ messages: DeviceMessageInput[]; stoppedAt?: Position }> {
  if (placed.length === 0) return { messages: [] };
  const living = [...new Map(placed.map(({ trigger }) => [keyOf(trigger), trigger])).values()];
  const rows = await run(deps.db.pool, readThings, [living.map((t) => t.tenantId), living.map((t) => t.controllerId)]);
  const things = new Map(rows.map((row) => [keyOf(row), row]));
  const chunks = await readChunks(deps, rows);
  const byTenant = new Map(tenants.map((tenant) => [tenant.tenantId, tenant]));
  const messages: DeviceMessageInput[] = [];
  const batches = new Batches(deps.now());
  const last = lastOfEach(placed);
  let bytes = 0;
  const tooLarge = (trigger: Trigger) => (size: number) => {
    bytes += size;
    logTooLarge(deps, trigger);
  };
  for (const [n, { trigger }] of placed.entries()) {
    if (last.get(wordOf(trigger)) !== n) continue;
    const tenant = byTenant.get(trigger.tenantId);
    const thing = things.get(keyOf(trigger));
    const told =
      thing === undefined || trigger.what === "deleted"
        ? deletion(trigger)
        : tell(deps, { trigger, thing, tenant, chunks, baseUrl, onTooLarge: tooLarge(trigger) });
    const exchange = exchangeOf(trigger.address ?? thing?.address ?? null, tenant);
    if (told === undefined || tenant === undefined || exchange === undefined) continue;
    const { controllerId } = trigger;
    const inBatch = trigger.confirmed !== true && deps.settings.get(tenant.tenantId)["batch.assignments.enabled"];
    const size = inBatch ? batches.sizeOf({ tenant, exchange, controllerId, told }) : undefined;
    const body = size !== undefined || told.body === undefined ? "" : JSON.stringify(told.body);
    const more = size ?? Buffer.byteLength(body);
    if (bytes > 0 && bytes + more > maxBytes) return { messages: [...messages, ...batches.messages()], ...stopBefore(placed, n) };
    if (more > maxBodyBytes) {
      tooLarge(trigger)(more);
      continue;
    }
    bytes += more;
    if (size !== undefined) batches.add({ tenant, exchange, controllerId, told });
    else messages.push({ ...tenant, exchange, controllerId, type: told.type, topic: told.topic, body });
  }
  return { messages: [...messages, ...batches.messages()] };
}

/** What is told to whom: of several triggers with the same word the last counts, and a report is no reason where there is a better one. */
const wordOf = (trigger: Trigger): string => `${keyOf(trigger)} ${trigger.what === "window" ? "action" : trigger.what}`;

function lastOfEach(placed: readonly Placed[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const [n, { trigger }] of placed.entries()) {
    const before = last.get(wordOf(trigger));
    const better = before !== undefined && trigger.what === "window" && placed[before]?.trigger.what === "action";
    if (!better) last.set(wordOf(trigger), n);
  }
  return last;
}

/** The position behind the trigger before the n-th: what is left out comes with the next call. */
function stopBefore(placed: readonly Placed[], n: number): { stoppedAt?: Position } {
  const before = placed[n - 1];
  return before === undefined ? {} : { stoppedAt: before.behind };
}

const deletion = ({ what }: Trigger): Told | undefined => (what === "deleted" ? { type: "THING_DELETED", topic: "" } : undefined);

/** The exchange of `amqp://<vhost>/<exchange>`, if it is in the tenant's own virtual host and one that messages can be published to. */
export function exchangeOf(address: string | null, tenant: Tenant | undefined): string | undefined {
  const prefix = `amqp://${tenant?.vhost ?? ""}/`;
  if (tenant === undefined || address === null || !address.startsWith(prefix)) return undefined;
  try {
    const name = decodeURIComponent(address.slice(prefix.length));
    return isReplyExchange(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

interface Telling {
  trigger: Trigger;
  thing: ThingRow;
  tenant: Tenant | undefined;
  chunks: ReadonlyMap<string, readonly ChunkTemplate[]>;
  baseUrl: string;
  onTooLarge: ThingFacts["onTooLarge"];
}

function tell(deps: OutgoingDeps, { trigger, thing, tenant, chunks, baseUrl, onTooLarge }: Telling): Told | undefined {
  const { tenantId, controllerId } = thing;
  if (trigger.what === "attributes") return thing.requestAttributes ? { type: "EVENT", topic: "REQUEST_ATTRIBUTES_UPDATE" } : undefined;
  const links = deps.links.of(tenantId);
  const facts = {
    actions: thing.actions,
    chunksOf: ({ setId, setRevision }: { setId: number; setRevision: number | null }) => chunks.get(`${tenantId}/${setId}/${setRevision}`),
    linksOf: (moduleId: number, { filename, sha1 }: { filename: string; sha1: string }) =>
      links.write({
        download_url: links.host ?? baseUrl,
        tenant: encodeURIComponent(tenant?.tenant ?? ""),
        controllerId: encodeURIComponent(controllerId),
        moduleId: String(moduleId),
        filename: encodeURIComponent(filename),
        sha1,
      }),
    securityToken: deps.secrets.open(thing.cipher),
    several: deps.settings.get(tenantId)["multi.assignments.enabled"],
    now: deps.now(),
    onTooLarge,
  };
  return trigger.what === "window" ? windowMessage(facts) : actionMessage(facts);
}

/** Such a thing is told again with each registration of its own: a line a minute says enough of a tenant. */
const tooLargeLines = new LinesPerMinute({ each: 1, all: 30 });

function logTooLarge({ log }: OutgoingDeps, { tenantId, controllerId }: Trigger): void {
  if (tooLargeLines.allows(tenantId))
    log.warn({ tenantId, controllerId, maxBodyBytes }, "a thing is not told of an action: its set is more than a message can have");
}

/** Reads the documents of all sets that these things shall install; most are in the cache. Whatever fails, nothing is told: it would be left out. */
async function readChunks({ documents }: OutgoingDeps, rows: readonly ThingRow[]): Promise<Map<string, readonly ChunkTemplate[]>> {
  const keys = new Map<string, { tenantId: number; setId: number; revision: number }>();
  for (const { tenantId, actions } of rows) {
    for (const { setId, setRevision } of actions) {
      if (setRevision !== null) keys.set(`${tenantId}/${setId}/${setRevision}`, { tenantId, setId, revision: setRevision });
    }
  }
  const read = await Promise.all([...keys].map(async ([key, of]) => [key, await documents.get(of).catch(undefinedIfGone)] as const));
  return new Map(read.flatMap(([key, found]) => (found === undefined ? [] : [[key, found]])));
}

function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof HarrierError) || error.code !== "entityNotFound") throw error;
}

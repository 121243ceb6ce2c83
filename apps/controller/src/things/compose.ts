import { isReplyExchange } from "@harrier/contracts";
import { type Database, run, type SecretBox } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { DeviceMessageInput } from "@harrier/rpc";
import { LinesPerMinute } from "@harrier/service";
import type { ArtifactLinkSettings } from "../artifacts/artifact-links.ts";
import type { ChunkTemplate, DeploymentDocuments } from "../deployment/documents.ts";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { Batches } from "./batches.ts";
import type { Tenant } from "./behind.ts";
import { actionMessage, maxBodyBytes, type ThingFacts, type Told, windowMessage } from "./messages.ts";
import type { Placed } from "./outbox-page.ts";
import { readThings, type ThingRow } from "./things.sql.ts";
import type { Trigger } from "./triggers.ts";

export interface ComposeDeps {
  db: Database;
  settings: Pick<TenantSettingsCache, "get">;
  documents: DeploymentDocuments;
  links: ArtifactLinkSettings;
  secrets: Pick<SecretBox, "open">;
  now: () => number;
  log: { warn(fields: object, message: string): void };
}

export interface Composing {
  readonly placed: readonly Placed[];
  readonly tenants: readonly Tenant[];
  readonly baseUrl: string;
  /** The messages have so many bytes of bodies, but one message at least. */
  readonly maxBytes: number;
  /** A tenant that has so many gets no more. */
  readonly maxBytesOfTenant: number;
  /** So many tenants may be left with what they have above that. */
  readonly maxLeft: number;
}

export interface Composed {
  readonly messages: DeviceMessageInput[];
  readonly bytes: number;
  /** The first trigger that is left out with all behind it, but for those of the tenants in `left`: of these it is an earlier one. */
  readonly stop: number | undefined;
  readonly left: ReadonlyMap<number, number>;
}

/** Writes what things are told, in the order of the triggers; several of one thing become one message. */
export async function compose(deps: ComposeDeps, work: Composing): Promise<Composed> {
  const { placed, tenants, maxBytes, maxBytesOfTenant, maxLeft } = work;
  const sizes = new Sizes();
  const left = new Map<number, number>();
  if (placed.length === 0) return { messages: [], bytes: 0, stop: undefined, left };
  const { things, chunks } = await readFacts(deps, placed);
  const byTenant = new Map(tenants.map((tenant) => [tenant.tenantId, tenant]));
  const messages: DeviceMessageInput[] = [];
  const batches = new Batches(deps.now());
  const last = lastOfEach(placed);
  const end = (stop?: number): Composed => ({ messages: [...messages, ...batches.messages()], bytes: sizes.all, stop, left });
  for (const [n, { trigger }] of placed.entries()) {
    const { tenantId, controllerId } = trigger;
    if (last.get(wordOf(trigger)) !== n || left.has(tenantId)) continue;
    const tenant = byTenant.get(tenantId);
    const thing = things.get(keyOf(trigger));
    const onTooLarge = (size: number) => {
      sizes.add(tenantId, size);
      logTooLarge(deps, trigger);
    };
    const told =
      thing === undefined || trigger.what === "deleted"
        ? deletion(trigger)
        : tell(deps, { trigger, thing, tenant, chunks, baseUrl: work.baseUrl, onTooLarge });
    const exchange = exchangeOf(trigger.address ?? thing?.address ?? null, tenant);
    if (told === undefined || tenant === undefined || exchange === undefined) continue;
    if (sizes.of(tenantId) >= maxBytesOfTenant && left.size < maxLeft) {
      left.set(tenantId, n);
      continue;
    }
    const inBatch = trigger.confirmed !== true && deps.settings.get(tenantId)["batch.assignments.enabled"];
    const size = inBatch ? batches.sizeOf({ tenant, exchange, controllerId, told }) : undefined;
    const body = size !== undefined || told.body === undefined ? "" : JSON.stringify(told.body);
    const more = size ?? Buffer.byteLength(body);
    if (sizes.all > 0 && sizes.all + more > maxBytes) return end(n);
    sizes.add(tenantId, more);
    if (more > maxBodyBytes) {
      logTooLarge(deps, trigger);
      continue;
    }
    if (size !== undefined) batches.add({ tenant, exchange, controllerId, told });
    else messages.push({ ...tenant, exchange, controllerId, type: told.type, topic: told.topic, body });
  }
  return end();
}

/** How many bytes there are, of all and of each tenant; what is too large to be sent has cost as much. */
class Sizes {
  all = 0;
  readonly #ofTenant = new Map<number, number>();

  of(tenantId: number): number {
    return this.#ofTenant.get(tenantId) ?? 0;
  }

  add(tenantId: number, bytes: number): void {
    this.all += bytes;
    this.#ofTenant.set(tenantId, this.of(tenantId) + bytes);
  }
}

interface Facts {
  readonly things: ReadonlyMap<string, ThingRow>;
  readonly chunks: ReadonlyMap<string, readonly ChunkTemplate[]>;
}

async function readFacts(deps: ComposeDeps, placed: readonly Placed[]): Promise<Facts> {
  const named = [...new Map(placed.map(({ trigger }) => [keyOf(trigger), trigger])).values()];
  const rows = await run(deps.db.pool, readThings, [named.map((t) => t.tenantId), named.map((t) => t.controllerId)]);
  return { things: new Map(rows.map((row) => [keyOf(row), row])), chunks: await readChunks(deps, rows) };
}

const keyOf = ({ tenantId, controllerId }: Pick<Trigger, "tenantId" | "controllerId">): string => `${tenantId}/${controllerId}`;

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

function tell(deps: ComposeDeps, { trigger, thing, tenant, chunks, baseUrl, onTooLarge }: Telling): Told | undefined {
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

function logTooLarge({ log }: ComposeDeps, { tenantId, controllerId }: Trigger): void {
  if (tooLargeLines.allows(tenantId))
    log.warn({ tenantId, controllerId, maxBodyBytes }, "a thing is not told of an action: its set is more than a message can have");
}

/** Reads the documents of all sets that these things shall install; most are in the cache. Whatever fails, nothing is told: it would be left out. */
async function readChunks({ documents }: ComposeDeps, rows: readonly ThingRow[]): Promise<Map<string, readonly ChunkTemplate[]>> {
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

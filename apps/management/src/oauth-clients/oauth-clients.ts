import { randomBytes } from "node:crypto";
import type { OAuth2ClientCreate, OAuth2ClientUpdate } from "@harrier/contracts";
import { type Database, digest, type IdBlocks, inTransaction, type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import { feedIdOf, parseClientId } from "./client-id.ts";
import {
  deleteClient,
  findClient,
  insertClients,
  lockClient,
  lockTenantForClients,
  type OAuthClientRow,
  replaceSecret,
  updateClient,
} from "./oauth-clients.sql.ts";
import { checkCovered, checkOperator, checkScopes, partsOfScopes } from "./scope-grants.ts";

/** A tenant has at most so many clients: each application has its own, and more are a sign of a program that creates one per run. */
export const maxClients = 1_000;

export interface OAuthClientDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** This is the user who manages clients, with their permissions. */
export type Actor = Pick<Principal, "tenantId" | "subject" | "permissions" | "targetTypeScopes">;

/** This is a client with its secret, which is shown once. */
export type WithSecret = OAuthClientRow & { clientSecret: string };

/** A secret has 256 bits: its digest is enough to store, and hashing need not be slow. */
const newSecret = (): string => `ocs_${randomBytes(32).toString("base64url")}`;

/** Returns one client (spec 000 §5.2). */
export async function getClient(deps: Pick<OAuthClientDeps, "db">, tenantId: number, clientId: string): Promise<OAuthClientRow> {
  return found(await runOne(deps.db.pool, findClient, [tenantId, idOf(tenantId, clientId)]), clientId);
}

/** Creates all clients or none and returns their secrets, which are shown here alone (spec 000 §5.2). The creator must hold what the scopes allow. */
export async function createClients(deps: OAuthClientDeps, admin: Actor, clients: readonly OAuth2ClientCreate[]): Promise<WithSecret[]> {
  if (clients.length === 0) return [];
  if (clients.length > maxClients) throw tooMany(clients.length);
  await checkScopes(deps.db.pool, admin, [...new Set(clients.flatMap((client) => client.scopes))]);
  const ids = await takeIds(deps.ids, admin.tenantId, "oauth-client", clients.length);
  const secrets = new Map(ids.map((id) => [id, newSecret()]));
  const rows = clients.map(({ name, description, scopes, accessTokenTtl }, n) => {
    const id = ids[n] as number;
    return { id, name, description, scopes, ttl: accessTokenTtl, secret: digest(secrets.get(id) as string).toString("hex") };
  });
  const made = await inTransaction(deps.db.pool, async (tx) => {
    await runOne(tx, lockTenantForClients, [admin.tenantId]);
    return run(tx, insertClients, [admin.tenantId, JSON.stringify(rows), admin.subject, maxClients]);
  });
  if (made.length === 0) throw tooMany(clients.length);
  return made.map((row) => ({ ...row, clientSecret: secrets.get(row.id) as string }));
}

/** Changes a client. The caller must hold what added scopes allow; existing tokens lose the scopes that the client loses (spec 000 §5.2). */
export async function changeClient(
  deps: Pick<OAuthClientDeps, "db">,
  admin: Actor,
  { clientId, change, ifMatch }: { clientId: string; change: OAuth2ClientUpdate; ifMatch?: IfMatch },
): Promise<OAuthClientRow> {
  const { name = null, description = null, scopes = null, accessTokenTtl = null } = change;
  return inTransaction(deps.db.pool, async (tx) => {
    const client = await lock(tx, admin, clientId);
    await checkOperator(tx, admin, client.scopes);
    requireRevision(ifMatch, client);
    const added = (scopes ?? []).filter((scope) => !client.scopes.includes(scope));
    if (added.length > 0) await checkScopes(tx, admin, added);
    const values = [admin.tenantId, client.id, name, description, scopes, accessTokenTtl, admin.subject, feedIdOf(client.id)] as const;
    return found(await runOne(tx, updateClient, [...values]), clientId);
  });
}

/**
 * Gives a client a new secret (contract extensions.md). A user who reads it can act as the client, so the client may hold no more than the
 * user's own permissions.
 */
export async function rotateSecret(
  deps: Pick<OAuthClientDeps, "db">,
  admin: Actor,
  { clientId, previousSecretTtl }: { clientId: string; previousSecretTtl: number },
): Promise<WithSecret> {
  const clientSecret = newSecret();
  const row = await inTransaction(deps.db.pool, async (tx) => {
    const { id, scopes } = await lock(tx, admin, clientId);
    await checkCovered(tx, admin, partsOfScopes(scopes));
    return runOne(tx, replaceSecret, [admin.tenantId, id, digest(clientSecret), previousSecretTtl, admin.subject, feedIdOf(id)]);
  });
  return { ...found(row, clientId), clientSecret };
}

/** Deletes a client: every gateway learns of it from the feed of credential changes and refuses the client's tokens. */
export async function removeClient(
  deps: Pick<OAuthClientDeps, "db">,
  admin: Actor,
  { clientId, ifMatch }: { clientId: string; ifMatch?: IfMatch },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    const client = await lock(tx, admin, clientId);
    const { id, scopes } = client;
    await checkOperator(tx, admin, scopes);
    requireRevision(ifMatch, client);
    await runCount(tx, deleteClient, [admin.tenantId, id, feedIdOf(id)]);
  });
}

async function lock(tx: Queryable, { tenantId }: Actor, clientId: string): Promise<OAuthClientRow> {
  return found(await runOne(tx, lockClient, [tenantId, idOf(tenantId, clientId)]), clientId);
}

/** Returns the number in a client id. For the caller, a client of another tenant does not exist. */
function idOf(tenantId: number, clientId: string): number {
  const key = parseClientId(clientId);
  if (key?.tenantId !== tenantId) throw entityNotFound("OAuth2Client", clientId);
  return key.id;
}

function found(row: OAuthClientRow | undefined, clientId: string): OAuthClientRow {
  if (row === undefined) throw entityNotFound("OAuth2Client", clientId);
  return row;
}

function tooMany(n: number): HarrierError {
  return new HarrierError(
    "quotaTooManyEntries",
    `Quota exceeded: Cannot assign ${n} more OAuth2Client entities to Tenant. The maximum is ${maxClients}.`,
  );
}

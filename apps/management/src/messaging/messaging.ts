import { randomBytes } from "node:crypto";
import type { MessagingAccess, MessagingStatus, MessagingUse } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { encodeCursor } from "../events/cursor.ts";
import { cursorOfNow } from "../events/read-events.ts";
import { type Broker, type BrokerSettings, userName } from "./broker.ts";
import { type MessagingRow, readMessaging, readRefusals, releaseMessaging, takeMessaging } from "./messaging.sql.ts";

export interface MessagingDeps {
  db: Database;
  /** Undefined where the installation has no broker. */
  broker: Broker | undefined;
}

/** It is longer than all calls of an enabling together may take. */
const takenSeconds = 45;

type Passwords = Readonly<Record<string, string>>;

const uses = ["dmf", "sie"] as const;
const enabledUses = (row: MessagingRow): MessagingUse[] => uses.filter((use) => row[use]);

/** Shows the messaging of the tenant (spec 001 §4.8); amqpNotAvailable without a broker, and where it does not answer. */
export async function getMessaging(deps: MessagingDeps, tenantId: number): Promise<MessagingStatus> {
  brokerOf(deps);
  const row = await runOne(deps.db.pool, readMessaging, [tenantId]);
  return statusOf(deps, tenantId, row);
}

async function statusOf(deps: MessagingDeps, tenantId: number, row: MessagingRow | undefined): Promise<MessagingStatus> {
  const broker = brokerOf(deps);
  const { ssl, port } = placeOf(broker.settings);
  if (row === undefined || enabledUses(row).length === 0) {
    return { enabled: false, dmfEnabled: false, sieEnabled: false, ssl, port, users: [] };
  }
  const refusals = await run(deps.db.pool, readRefusals, [tenantId]);
  const [counts, there] = await Promise.all([
    broker.count(row.vhost),
    Promise.all(enabledUses(row).map(async (use) => ((await broker.has(row.vhost, use)) ? [] : [use]))),
  ]);
  const missing = there.flat();
  return {
    enabled: true,
    dmfEnabled: row.dmf,
    sieEnabled: row.sie,
    ssl,
    port,
    vhost: row.vhost,
    vHost: row.vhost,
    users: enabledUses(row).map((use) => userName(row.vhost, use)),
    ...counts,
    ...(missing.length === 0 ? {} : { missing }),
    ...(refusals.length === 0 ? {} : { refusals: refusals.map(({ lastAt, ...one }) => ({ ...one, lastAt: lastAt.getTime() })) }),
    ...(row.sieFailingSince === null ? {} : { sieFailingSince: row.sieFailingSince.getTime() }),
  };
}

/** Changes passwords of the tenant's users, named in full or by their use: all are known before the first is changed. */
export async function setPasswords(deps: MessagingDeps, tenantId: number, passwords: Passwords): Promise<MessagingStatus> {
  const broker = brokerOf(deps);
  const row = await runOne(deps.db.pool, readMessaging, [tenantId]);
  if (row === undefined || enabledUses(row).length === 0) throw new HarrierError("amqpNotEnabled");
  const given = byUse(passwords, row.vhost, enabledUses(row));
  await Promise.all([...given].map(([use, password]) => broker.setPassword(userName(row.vhost, use), password)));
  return statusOf(deps, tenantId, row);
}

export interface Enabling {
  readonly use: MessagingUse;
  /** Those that are not given are generated. */
  readonly passwords?: Passwords;
  /** Whether a use that is enabled already is set up again, with new passwords. */
  readonly override?: boolean;
}

/**
 * Enables a use of the broker: the tenant's virtual host, what the use needs in it, and its user. What an enabling that failed has left on the broker
 * is taken over by the next one, and so is what the broker has lost. Throws amqpAlreadyEnabled also while another one is under way.
 */
export async function enableMessaging(deps: MessagingDeps, tenantId: number, enabling: Enabling): Promise<MessagingAccess> {
  const { use, passwords = {} } = enabling;
  const broker = brokerOf(deps);
  const known = await runOne(deps.db.pool, readMessaging, [tenantId]);
  const vhost = known?.vhost ?? `harrier-${tenantId}-${randomBytes(4).toString("hex")}`;
  const given = byUse(passwords, vhost, [use]);
  const override = enabling.override === true || (known !== undefined && !(await broker.has(vhost, use)));
  const row = await runOne(deps.db.pool, takeMessaging, [tenantId, vhost, use, override, takenSeconds]);
  if (row === undefined) throw new HarrierError("amqpAlreadyEnabled");
  let enabled = false;
  try {
    const name = userName(row.vhost, use);
    const password = given.get(use) ?? randomBytes(24).toString("base64url");
    await broker.prepare(row.vhost, use);
    await broker.putUser({ vhost: row.vhost, name, password, use });
    enabled = true;
    return accessOf(broker.settings, row.vhost, { name, password });
  } finally {
    const isStream = enabled && use === "sie";
    const position = isStream ? encodeCursor(await cursorOfNow(deps.db.pool, Date.now)) : null;
    await run(deps.db.pool, releaseMessaging, [tenantId, enabled && use === "dmf", isStream, position]);
  }
}

/** Removes what the tenant has on the broker, before its row goes. Without a broker there is nothing that could be removed. */
export async function removeMessaging(deps: MessagingDeps, tenantId: number): Promise<void> {
  const row = await runOne(deps.db.pool, readMessaging, [tenantId]);
  if (row === undefined || deps.broker === undefined) return;
  await deps.broker.remove(
    row.vhost,
    uses.map((use) => userName(row.vhost, use)),
  );
}

function brokerOf({ broker }: MessagingDeps): Broker {
  if (broker === undefined) throw new HarrierError("amqpNotAvailable", "This installation has no message broker.");
  return broker;
}

/** Reads passwords by the name of a user or by its use; any other name is a user that is not there. */
function byUse(passwords: Passwords, vhost: string, known: readonly MessagingUse[]): Map<MessagingUse, string> {
  return new Map(
    Object.entries(passwords).map(([name, password]) => {
      const use = known.find((one) => one === name || userName(vhost, one) === name);
      if (use === undefined) throw entityNotFound("User", name);
      return [use, password];
    }),
  );
}

interface Place {
  readonly ssl: boolean;
  readonly port: number;
}

function placeOf({ publicUrl }: BrokerSettings): Place {
  const ssl = publicUrl.protocol === "amqps:";
  return { ssl, port: publicUrl.port === "" ? (ssl ? 5671 : 5672) : Number(publicUrl.port) };
}

function accessOf(settings: BrokerSettings, vhost: string, { name, password }: { name: string; password: string }): MessagingAccess {
  const { ssl, port } = placeOf(settings);
  const { hostname, protocol } = settings.publicUrl;
  const { origin, pathname } = settings.managementUrl;
  const dashboardUrl = `${origin}${pathname.replace(/\/+$/, "")}`;
  const amqpUri = `${protocol}//${name}:${encodeURIComponent(password)}@${hostname}:${port}/${vhost}`;
  const user = { username: name, password, httpApiUrl: `${dashboardUrl}/api`, amqpUri, dashboardUrl };
  return { ssl, service: hostname, port, vhost, vHost: vhost, users: { [name]: user } };
}

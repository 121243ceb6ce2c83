import { isDeepStrictEqual } from "node:util";
import { auditTables, dumpTenants, movingTables, withClient } from "@harrier/testkit";
import { inject } from "vitest";
import type { CallOptions } from "./call.ts";
import { pause } from "./wait.ts";
import { snapshot, type World } from "./world.ts";

/** What a request that is refused may change: what moves by itself, and what is to be written of it. */
const moving = [...movingTables, ...auditTables];

/**
 * Everything that a request could have changed: all rows of the world's tenant, and of those that the request names, in all tables of all
 * services. Of a service that runs elsewhere, whose database is not ours to read: what its interface shows.
 */
async function stateOf(world: World, also: readonly string[], except: readonly string[]): Promise<unknown> {
  const { databaseUrl } = inject("service");
  if (databaseUrl === "") return snapshot(world);
  return withClient(databaseUrl, async (client) => {
    const names = [world.tenant, ...also].map((name) => name.toLowerCase());
    const { rows } = await client.query<{ id: number }>("select tenant_id as id from management.tenants where lower(name) = any($1)", [
      names,
    ]);
    return dumpTenants(
      client,
      rows.map(({ id }) => id),
      { except: [...moving, ...except] },
    );
  });
}

/** Tenants that a request is about, beside the one it is made in. */
const namedIn = ({ params }: CallOptions): string[] => (params?.["tenantName"] === undefined ? [] : [String(params["tenantName"])]);

const restsWithinMs = 40_000;

/** The engine looks twice a second for what devices have done. */
const engineMs = 600;

/** Downloads are noted in the history a second after they have ended. */
const notesMs = 2_500;

/** No engine is at work for them, or is about to be. Of a service that runs elsewhere, only time tells. */
async function enginesRest(world: World): Promise<boolean> {
  const { databaseUrl } = inject("service");
  if (databaseUrl === "") return pause(engineMs).then(() => true);
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ busy: boolean }>(
      `select exists (select from rollout_engine.leases l join management.tenants t on t.tenant_id = l.tenant_id
                       where lower(t.name) = lower($1) and (l.owner is not null or l.due_at <= now() + interval '2 seconds')) as busy`,
      [world.tenant],
    );
    return rows[0]?.busy === false;
  });
}

/**
 * Makes a request that must change nothing, and compares all that there is before and after. What earlier requests have set in motion comes to
 * its rest first.
 */
export async function unchangedBy<T>(
  world: World,
  id: string,
  options: CallOptions,
  request: () => Promise<T>,
  except: readonly string[] = [],
): Promise<T> {
  const state = () => stateOf(world, namedIn(options), except);
  const rollouts = id.startsWith("rollouts.");
  const still = rollouts ? engineMs : id.startsWith("device.artifact") ? notesMs : 50;
  let before = await state();
  const began = Date.now();
  for (;;) {
    await pause(still);
    const resting = !rollouts || (await enginesRest(world));
    const now = await state();
    if (resting && isDeepStrictEqual(now, before)) break;
    if (Date.now() - began > restsWithinMs) throw new Error("the tenant does not come to rest");
    before = now;
  }
  const answer = await request();
  const after = await state();
  if (!isDeepStrictEqual(after, before)) throw new Error(`${id} has changed something: ${difference(before, after)}`);
  return answer;
}

function difference(before: unknown, after: unknown): string {
  const [then, now] = [before, after].map(
    (state) => new Map(Object.entries(state as object).map(([key, part]) => [key, JSON.stringify(part)])),
  );
  const keys = new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...keys].filter((key) => then?.get(key) !== now?.get(key)).join(", ");
}

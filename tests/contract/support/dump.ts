import { isDeepStrictEqual } from "node:util";
import { auditTables, dumpTenants, movingTables, withSharedClient } from "@harrier/testkit";
import { inject } from "vitest";
import type { CallOptions } from "./call.ts";
import { type Fixture, snapshot } from "./tenant.fixture.ts";
import { pause } from "./wait.ts";

/** A denied request may change these tables: some change by themselves, and the audit trail records the denial. */
const moving = [...movingTables, ...auditTables];

/**
 * Reads everything that a request could have changed: all rows of the fixture's tenant, and of those that the request names, in all tables of all
 * services. The database of a service that runs elsewhere cannot be read here; for it, the interface is asked instead.
 */
async function stateOf(fixture: Fixture, also: readonly string[], except: readonly string[]): Promise<unknown> {
  const { databaseUrl } = inject("service");
  if (databaseUrl === "") return snapshot(fixture);
  return withSharedClient(databaseUrl, async (client) => {
    const names = [fixture.tenant, ...also].map((name) => name.toLowerCase());
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

/** Finds the tenants that a request is about, beside the one it is made in. */
const namedIn = ({ params }: CallOptions): string[] => (params?.["tenantName"] === undefined ? [] : [String(params["tenantName"])]);

const settlesWithinMs = 40_000;

/** Of a service that runs elsewhere nobody sees whether its engine works; it reads twice a second what devices have done. */
const unseenEngineMs = 600;

/** A download is recorded in the history a second after it has ended. */
const downloadBufferMs = 2_500;

/**
 * Tells whether everything that earlier requests left to be done in the background is done. Released artifacts are always among it. The engines are, if
 * `withRollouts`: they have read what its devices have done, and no rollout is due. That a running rollout becomes due again some seconds later is no
 * matter: such a round changes nothing if nothing has happened. For a service that runs elsewhere it waits instead.
 */
async function isAtRest(fixture: Fixture, withRollouts: boolean): Promise<boolean> {
  const { databaseUrl } = inject("service");
  if (databaseUrl === "") return pause(withRollouts ? unseenEngineMs : 0).then(() => true);
  return withSharedClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ busy: boolean }>({
      name: "there is work left",
      text: `select exists (select from management.operations o where o.tenant_id = t.tenant_id)
                 or $2 and (exists (select from rollout_engine.leases l where l.tenant_id = t.tenant_id and (l.owner is not null or l.due_at <= now()))
                         or exists (select from controller.group_changes_v1 g, rollout_engine.progress_cursor c
                                     where g.tenant_id = t.tenant_id and (g.txid, g.id) > (c.seen_txid, c.seen_id))) as busy
               from management.tenants t where lower(t.name) = lower($1)`,
      values: [fixture.tenant, withRollouts],
    });
    return rows[0]?.busy === false;
  });
}

/**
 * Makes a request that must change nothing, and compares the whole state before and after. It first waits until the effects of earlier requests have
 * settled.
 */
export async function unchangedBy<T>(
  fixture: Fixture,
  id: string,
  options: CallOptions,
  request: () => Promise<T>,
  except: readonly string[] = [],
): Promise<T> {
  const state = () => stateOf(fixture, namedIn(options), except);
  const rollouts = id.startsWith("rollouts.");
  const still = id.startsWith("device.artifact") ? downloadBufferMs : 50;
  let before = await state();
  const began = Date.now();
  for (;;) {
    await pause(still);
    const resting = await isAtRest(fixture, rollouts);
    const now = await state();
    if (resting && isDeepStrictEqual(now, before)) break;
    if (Date.now() - began > settlesWithinMs) throw new Error("the tenant does not come to rest");
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

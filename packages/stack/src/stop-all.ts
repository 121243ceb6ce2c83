import type { DataDir } from "./data-dir.ts";
import type { StackDatabase } from "./database.ts";
import type { ServiceName } from "./services.ts";
import type { Supervised } from "./supervised.ts";

// a stop takes at most 10 s in all: the head starts are part of the services' time, and the database gets what is left
const HEAD_START_MS = 1_500;
export const SERVICES_LIMIT_MS = 8_000;
const STOP_LIMIT_MS = 9_700;

interface Stopped {
  readonly service: ServiceName;
  readonly child: Supervised;
}

/** Callers stop before the services that they call, so that work in progress can end: the gateways first, controller last. */
const stopOrder: readonly (readonly ServiceName[])[] = [
  ["gateway", "dmf"],
  ["artifact-store", "rollout-engine"],
  ["management"],
  ["controller"],
];

/** Stops stage by stage; each gets a head start and is not waited for longer. The database comes last. */
export async function stopAll(members: readonly Stopped[], data: DataDir, database: StackDatabase): Promise<void> {
  const began = Date.now();
  const left = (limit: number) => Math.max(began + limit - Date.now(), 100);
  const ends: Promise<void>[] = [];
  for (const services of stopOrder) {
    const stage = members.filter(({ service }) => services.includes(service)).map(({ child }) => child.stop(left(SERVICES_LIMIT_MS)));
    ends.push(...stage);
    await Promise.race([Promise.all(stage), new Promise((resolve) => setTimeout(resolve, HEAD_START_MS).unref())]);
  }
  await Promise.all(ends);
  await database.stop(left(STOP_LIMIT_MS));
  for (const { child } of members) child.close();
  data.release();
}

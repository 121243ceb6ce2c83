import pg from "pg";

const openConnections = new WeakMap<pg.Pool, Set<pg.ClientBase>>();

/** What still runs when a pool is ended has this much time (milliseconds): its part of the service has stopped before. */
const endLimitMs = 1_000;

/** Keeps the list of the connections of a pool, so that `endPool` can close those that are not given back. */
export function followConnections(pool: pg.Pool): void {
  const connections = new Set<pg.ClientBase>();
  openConnections.set(pool, connections);
  pool.on("connect", (client) => connections.add(client));
  pool.on("remove", (client) => connections.delete(client));
}

/** Ends a pool; after a second it closes the connections that are still in use, and the server rolls back what they were doing. */
export async function endPool(pool: pg.Pool): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const limit = setTimeout(() => {
    for (const client of openConnections.get(pool) ?? []) closeConnection(client);
    closed.resolve();
  }, endLimitMs);
  try {
    await Promise.race([pool.end(), closed.promise]);
  } finally {
    clearTimeout(limit);
  }
}

/** Closes a connection without the farewell that a server which is gone does not answer; its statements fail, and its pool forgets it. */
export function closeConnection(client: object): void {
  if (client instanceof pg.Pool) return;
  (client as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy();
}

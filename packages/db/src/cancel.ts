import pg from "pg";

/** The parts of the driver that send a CancelRequest (PostgreSQL manual §54.2.8); it has no public function for it that knows TLS. */
interface WireConnection {
  readonly ssl: unknown;
  readonly stream: { destroy(): void };
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  once(event: "connect" | "sslconnect" | "error" | "end", listener: () => void): void;
  on(event: "error", listener: () => void): void;
}
interface WireClient {
  readonly host: string;
  readonly port: number;
  readonly sslNegotiation?: string;
  readonly connection: WireConnection;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

type Cancel = (client: pg.ClientBase, stillRunning: () => boolean) => void;

/** Cancels of one pool that are under way at once: each is a connection to the server. The others wait; there are no more of them than connections. */
const mostAtOnce = 4;
/** A cancel that takes longer does not arrive any more. */
const cancelLimitMs = 2_000;
/** A cancel that arrives before its statement does is lost: where the statement still runs after so long, it is asked again. */
const againMs = 250;
/** A statement that goes on for so long after its first cancel is on a server that does not hear: its connection is cut. */
const afterCancelMs = 3_000;

const cancels = new WeakMap<pg.ClientBase, Cancel>();
const cancelled = new WeakSet<pg.ClientBase>();

/** Makes the statements of a pool's connections cancellable (`cancelStatement`). `config` is the one that the pool was made with. */
export function createCanceller(pool: pg.Pool, config: pg.PoolConfig): void {
  const waiting: (() => void)[] = [];
  let running = 0;
  const send = async (client: pg.ClientBase, stillRunning: () => boolean, cutAt = performance.now() + afterCancelMs): Promise<void> => {
    if (running === mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    if (stillRunning()) {
      await sendCancel(config, wireOf(client));
      const look = (): void => {
        if (!stillRunning()) return;
        if (performance.now() >= cutAt) wireOf(client).connection.stream.destroy();
        else void send(client, stillRunning, cutAt);
      };
      setTimeout(look, againMs).unref();
    }
    // whoever is next takes over the place
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  pool.on("connect", (client) => cancels.set(client, (one, stillRunning) => void send(one, stillRunning)));
}

/**
 * Asks the server to cancel what this connection executes. From then on the connection must not go back to its pool (`wasCancelled`): the
 * request may arrive late, and would then hit the statement of somebody else.
 */
export function cancelStatement(client: pg.ClientBase, stillRunning: () => boolean): void {
  const cancel = cancels.get(client);
  if (cancel === undefined) return;
  cancelled.add(client);
  cancel(client, stillRunning);
}

/** True where a cancel was sent for this connection: it has to be thrown away. */
export function wasCancelled(client: pg.ClientBase): boolean {
  return cancelled.has(client);
}

const wireOf = (client: pg.ClientBase): WireClient => client as unknown as WireClient;

/** Resolves when the server has closed the connection of the cancel, which is its only answer, or when it cannot be asked. */
function sendCancel(config: pg.PoolConfig, running: WireClient): Promise<void> {
  const { processID, secretKey } = running;
  if (processID === null || secretKey === null) return Promise.resolve();
  // only its address and its kind of TLS are of use here: it is never connected by itself
  const { host, port, connection, sslNegotiation } = wireOf(new pg.Client(config));
  return new Promise((resolve) => {
    const limit = setTimeout(() => connection.stream.destroy(), cancelLimitMs);
    const done = (): void => {
      clearTimeout(limit);
      resolve();
    };
    const ask = (): void => connection.cancel(processID, secretKey);
    connection.on("error", done);
    connection.once("end", done);
    connection.once("connect", () => {
      if (!connection.ssl) ask();
      else if (sslNegotiation !== "direct") connection.requestSsl();
    });
    connection.once("sslconnect", ask);
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

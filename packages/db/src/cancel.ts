import pg from "pg";

/** The parts of the driver that send a CancelRequest (PostgreSQL manual §54.2.8); it has no public function for it that supports TLS. */
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

/**
 * So many cancels of one pool run at a time, because each is a connection to the server. The others wait; there are no more of them than
 * connections.
 */
const maxConcurrency = 4;
/** A cancel that takes longer will not arrive any more. */
const cancelLimitMs = 2_000;
/** A cancel that arrives before its statement does is lost, so it is sent again if the statement still runs after this time. */
const againMs = 250;
/** If a statement goes on for so long after its first cancel, the server does not respond, and the connection is closed. */
const afterCancelMs = 3_000;

const cancels = new WeakMap<pg.ClientBase, Cancel>();
const cancelled = new WeakSet<pg.ClientBase>();

/** Makes the statements of a pool's connections cancellable (`cancelStatement`). The pool was created with `config`. */
export function createCanceller(pool: pg.Pool, config: pg.PoolConfig): void {
  const waiting: (() => void)[] = [];
  let running = 0;
  const send = async (client: pg.ClientBase, stillRunning: () => boolean, cutAt = performance.now() + afterCancelMs): Promise<void> => {
    if (running === maxConcurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    if (stillRunning()) {
      await sendCancel(config, wireOf(client));
      const check = (): void => {
        if (!stillRunning()) return;
        if (performance.now() >= cutAt) wireOf(client).connection.stream.destroy();
        else void send(client, stillRunning, cutAt);
      };
      setTimeout(check, againMs).unref();
    }
    // the next one takes over the slot
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  pool.on("connect", (client) => cancels.set(client, (one, stillRunning) => void send(one, stillRunning)));
}

/**
 * Asks the server to cancel what this connection executes. From then on the connection must not go back to its pool (`wasCancelled`), because the
 * request may arrive late and would then cancel another request's statement.
 */
export function cancelStatement(client: pg.ClientBase, stillRunning: () => boolean): void {
  const cancel = cancels.get(client);
  if (cancel === undefined) return;
  cancelled.add(client);
  cancel(client, stillRunning);
}

/** Whether a cancel was sent for this connection, so that it has to be closed. */
export function wasCancelled(client: pg.ClientBase): boolean {
  return cancelled.has(client);
}

const wireOf = (client: pg.ClientBase): WireClient => client as unknown as WireClient;

/** Resolves when the server has closed the connection of the cancel, which is its only answer, or when it cannot be reached. */
function sendCancel(config: pg.PoolConfig, running: WireClient): Promise<void> {
  const { processID, secretKey } = running;
  if (processID === null || secretKey === null) return Promise.resolve();
  // only its address and its TLS settings are used here; it never connects
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

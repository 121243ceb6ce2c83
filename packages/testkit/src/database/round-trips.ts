import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createFrontendParser, type FrontendParser } from "./frontend-messages.ts";

/** Counts what is really sent to PostgreSQL, whatever library sends it and however it is named. */
export interface RoundTripCounter {
  /** Answers the same URL through the counter. One counter serves all databases and roles of its server. */
  through(url: string): string;
  /** Answers the round trips since the last `reset`, over all connections. */
  count(): number;
  /** Answers them for each connection that is or was open since the last `reset`, in the order of their creation. */
  perConnection(): number[];
  reset(): void;
  /** Answers the round trips that `work` makes. Nothing else may use the counter meanwhile. */
  during(work: () => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
}

interface Connection {
  roundTrips: number;
  open: boolean;
}

export interface RoundTripOptions {
  /** Connections whose application name matches do not count: those of the jobs that run beside what is counted, for instance. */
  readonly without?: RegExp;
}

/**
 * Starts a TCP proxy in front of the server of `url`. One round trip = one Sync ('S': a prepared statement, or several sent as one pipeline), one
 * simple Query ('Q') or one function call ('F'). BEGIN, COMMIT and ROLLBACK count, because each of them is a Query or ends in a Sync. Signing in
 * does not count, because connections are kept.
 */
export async function startRoundTripCounter(url: string, { without }: RoundTripOptions = {}): Promise<RoundTripCounter> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let connections: Connection[] = [];
  const server = createServer({ noDelay: true }, (client) => {
    const connection: Connection = { roundTrips: 0, open: true };
    let counts = true;
    connections.push(connection);
    const upstream = connect({ host: target.hostname, port: Number(target.port || 5432), noDelay: true });
    const parser = createFrontendParser({
      onRoundTrip: () => {
        if (counts) connection.roundTrips += 1;
      },
      onName: (name) => {
        counts = without?.test(name) !== true;
      },
      refuseEncryption: () => client.write("N"),
    });
    join(client, upstream, parser);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once("close", () => {
        connection.open = false;
        sockets.delete(socket);
      });
    }
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const count = () => connections.reduce((sum, connection) => sum + connection.roundTrips, 0);
  const reset = () => {
    connections = connections.filter((connection) => connection.open);
    for (const connection of connections) connection.roundTrips = 0;
  };
  return {
    through(original) {
      const proxied = new URL(original);
      proxied.hostname = "127.0.0.1";
      proxied.port = String(port);
      return proxied.href;
    },
    count,
    perConnection: () => connections.map((connection) => connection.roundTrips),
    reset,
    async during(work) {
      reset();
      await work();
      return count();
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function join(client: Socket, upstream: Socket, parser: FrontendParser): void {
  client.on("data", (data) => {
    const passed = parser.pass(data);
    if (passed.length > 0 && !upstream.write(passed)) {
      client.pause();
      upstream.once("drain", () => client.resume());
    }
  });
  client.on("end", () => upstream.end());
  upstream.pipe(client);
  // a failure on either side closes the other side
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
}

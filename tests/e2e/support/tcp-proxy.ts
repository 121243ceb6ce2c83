import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Ends the connections of a process, and takes none from it until `mend`; others notice nothing. It needs Linux. */
  cut(pid: number): void;
  mend(): void;
  stop(): Promise<void>;
}

/** Starts a proxy in front of a server on this machine, which can be cut off for one of its clients. */
export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  const cut = new Set<number>();
  const isCut = (client: Socket): boolean => [...cut].some((pid) => owns(pid, client.remotePort ?? 0, port));
  const server = createServer((client) => {
    client.on("error", () => undefined);
    if (isCut(client)) return client.destroy();
    clients.add(client);
    const upstream = connect(to, "127.0.0.1");
    upstream.on("error", () => undefined);
    client.once("close", () => {
      clients.delete(client);
      upstream.destroy();
    });
    upstream.once("close", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cut(pid) {
      cut.add(pid);
      for (const client of clients) if (isCut(client)) client.destroy();
    },
    mend: () => cut.clear(),
    async stop() {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

/** Whether a process has the socket that goes from this port to that one. */
function owns(pid: number, from: number, to: number): boolean {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const line = lines.find(
    (one) =>
      one.includes(`:${hex(from)} `) &&
      one
        .trim()
        .split(/\s+/)[2]
        ?.endsWith(`:${hex(to)}`),
  );
  const inode = line?.trim().split(/\s+/)[9];
  return inode !== undefined && socketsOf(pid).has(`socket:[${inode}]`);
}

function socketsOf(pid: number): ReadonlySet<string> {
  const dir = `/proc/${pid}/fd`;
  return new Set(
    readdirSync(dir).map((fd) => {
      try {
        return readlinkSync(`${dir}/${fd}`);
      } catch {
        return ""; // it was closed meanwhile
      }
    }),
  );
}

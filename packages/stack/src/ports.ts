import { createServer, type Server } from "node:net";

// Below every system's range for outgoing connections (Linux: from 32768): a service that is started again must find its port
// free, and not in use by some connection that began meanwhile.
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;

function listen(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** `n` different ports of 127.0.0.1 that are free now. */
export async function freePorts(n: number): Promise<number[]> {
  const held: { port: number; server: Server }[] = [];
  try {
    for (let tries = 0; held.length < n; tries += 1) {
      if (tries > 100 * n) throw new Error(`no ${n} free ports between ${FIRST_PORT} and ${LAST_PORT}`);
      const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
      // each stays held until all are found, so that none comes twice
      const server = await listen(port, "127.0.0.1").catch(() => undefined);
      if (server !== undefined) held.push({ port, server });
    }
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ server }) => close(server)));
  }
}

/** One free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error("no free port");
  return port;
}

/** Whether we could listen there; an address that we may not use at all counts as taken. */
export async function isPortFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  try {
    await close(await listen(port, host));
    return true;
  } catch {
    return false;
  }
}

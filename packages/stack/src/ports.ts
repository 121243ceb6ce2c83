import { createServer, type Server } from "node:net";

// It is below every system's range for outgoing connections (Linux: from 32768), because a restarted service must find its port free, and not used by
// a connection that began meanwhile.
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;

function listen(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Answers `n` different ports of 127.0.0.1 that are free now. */
export async function freePorts(n: number): Promise<number[]> {
  const held: { port: number; server: Server }[] = [];
  try {
    for (let tries = 0; held.length < n; tries += 1) {
      if (tries > 100 * n) throw new Error(`no ${n} free ports between ${FIRST_PORT} and ${LAST_PORT}`);
      const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
      // each port stays open until all are found, so that none is found twice
      const server = await listen(port, "127.0.0.1").catch(() => undefined);
      if (server !== undefined) held.push({ port, server });
    }
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ server }) => close(server)));
  }
}

/** Answers one free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error("no free port");
  return port;
}

/** Whether we could listen there; an address that we may not use counts as taken. */
export async function isPortFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  try {
    await close(await listen(port, host));
    return true;
  } catch {
    return false;
  }
}

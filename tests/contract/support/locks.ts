import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** `keys` is held beside one of the others and covers the API keys of the tenant, of which it may have two. */
type LockMode = "shared" | "alone" | "keys";

/**
 * All files work in one tenant. Those that change its settings (`*.serial.test.ts`) must not run beside others: each file holds a lock,
 * shared or exclusive. A lock is an open HTTP answer, so that a worker which dies releases its lock.
 */
export async function startLocks(): Promise<{ url: string; stop(): Promise<void> }> {
  const tenant = createQueue();
  const keys = createQueue();
  const server = createServer((req, res) => {
    if (req.url === "/keys") keys("alone", res);
    else tenant(req.url === "/alone" ? "alone" : "shared", res);
  });
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Grants locks in the order in which they were requested. */
function createQueue(): (mode: "shared" | "alone", res: ServerResponse) => void {
  const waiting: { mode: LockMode; res: ServerResponse }[] = [];
  const holding = new Map<ServerResponse, LockMode>();

  const grant = (): void => {
    for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
      const free = holding.size === 0 || (head.mode === "shared" && ![...holding.values()].includes("alone"));
      if (!free) return;
      waiting.shift();
      holding.set(head.res, head.mode);
      head.res.writeHead(200);
      head.res.flushHeaders();
    }
  };

  return (mode, res) => {
    waiting.push({ mode, res });
    res.on("close", () => {
      holding.delete(res);
      const place = waiting.findIndex((one) => one.res === res);
      if (place >= 0) waiting.splice(place, 1);
      grant();
    });
    grant();
  };
}

/** Waits for a lock; the returned function releases it. */
export async function acquireLock(url: string, mode: LockMode): Promise<() => Promise<void>> {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const req = request(`${url}/${mode}`, { agent: false }, (res) => {
      res.resume();
      res.on("error", () => undefined);
      resolve(
        () =>
          new Promise<void>((released) => {
            res.on("close", () => released());
            req.destroy();
          }),
      );
    });
    req.on("error", reject);
    req.end();
  });
}

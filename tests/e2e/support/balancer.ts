import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

/** The balancer asks each gateway for it twice a second; the answer is 200 while the gateway accepts requests (docs/operations.md, "Probes"). */
const readinessPath = "/readyz/self";
const everyMs = 500;
const probeMs = 2_000;

export interface Balancer {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

interface Backend {
  readonly port: number;
  ready: boolean;
}

/**
 * Starts a minimal load balancer: it goes round-robin over the ready replicas, with kept connections and without retries, so that a failure reaches
 * the client.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const backends: Backend[] = ports.map((port) => ({ port, ready: false }));
  const agent = new Agent({ keepAlive: true });
  const probe = () => Promise.all(backends.map(async (backend) => Object.assign(backend, { ready: await isReady(backend.port) })));
  await probe();
  const probing = setInterval(() => void probe(), everyMs);
  let nextIndex = 0;
  const server = createServer((req, res) => {
    const ready = backends.filter((backend) => backend.ready);
    const backend = ready[nextIndex++ % Math.max(ready.length, 1)];
    if (backend === undefined) res.writeHead(502).end("no gateway is ready");
    else pass(req, res, { agent, port: backend.port });
  });
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      clearInterval(probing);
      agent.destroy();
      await close(server);
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${readinessPath}`, { signal: AbortSignal.timeout(probeMs) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

function pass(req: IncomingMessage, res: ServerResponse, to: { agent: Agent; port: number }): void {
  const { connection: _, ...headers } = req.headers;
  const sent = request({ host: "127.0.0.1", port: to.port, agent: to.agent, method: req.method, path: req.url, headers });
  sent.on("response", (answer) => {
    const { connection: __, ...given } = answer.headers;
    res.writeHead(answer.statusCode ?? 502, given);
    pipeline(answer, res, () => undefined);
  });
  sent.on("error", (error) => {
    if (res.headersSent) res.destroy();
    else res.writeHead(502).end(error.message);
  });
  pipeline(req, sent, () => undefined);
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface BrokerStub {
  /** The value for HARRIER_AMQP_MANAGEMENT_URL. */
  readonly managementUrl: string;
  stop(): Promise<void>;
}

/**
 * Stands in for RabbitMQ's management interface, as far as management asks it: changes succeed, and no virtual host has a queue. What a real broker
 * makes of it is shown in tests/e2e/messaging.real.test.ts.
 */
export async function startBrokerStub(): Promise<BrokerStub> {
  const server = createServer((req, res) => {
    req.resume();
    req.once("end", () => {
      if (req.method === "GET") res.writeHead(200, { "content-type": "application/json" }).end("{}");
      else res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    managementUrl: `http://harrier:stub@127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

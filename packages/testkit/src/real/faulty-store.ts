import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** What becomes of a request to the store: nothing special, an answer of an overloaded store, or a slow way in both directions. */
export type StoreFault = undefined | { readonly status: 503 } | { readonly bytesPerSecond: number };

export interface FaultyStore {
  readonly endpoint: string;
  /** The requests that came, as `<method> <path>`. */
  readonly requests: readonly string[];
  /** From now on each request is asked what becomes of it; without a function all are passed on. */
  fault(of?: (request: string, n: number) => StoreFault): void;
  stop(): Promise<void>;
}

/** Puts faults between a client and a real S3 server; requests stay as they were signed. */
export async function startFaultyStore(endpoint: string): Promise<FaultyStore> {
  const { hostname, port } = new URL(endpoint);
  const requests: string[] = [];
  let n = 0;
  let faultOf: (request: string, n: number) => StoreFault = () => undefined;
  const server = createServer((req, res) => {
    const line = `${req.method} ${req.url}`;
    requests.push(line);
    const fault = faultOf(line, n++);
    if (fault !== undefined && "status" in fault) return refuse(req, res, fault.status);
    const paced = () => (fault === undefined ? [] : [pace(fault.bytesPerSecond)]);
    // the signature covers Host, so it stays the one that the client has called
    const sent = request({ host: hostname, port, method: req.method, path: req.url, headers: req.headers, agent: false });
    sent.on("response", (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      void pipeline([answer, ...paced(), res]).catch(() => undefined);
    });
    sent.on("error", () => res.destroy());
    void pipeline([req, ...paced(), sent]).catch(() => undefined);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fault(of = () => undefined) {
      n = 0;
      faultOf = of;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(req: IncomingMessage, res: ServerResponse, status: number): void {
  req.resume().on("end", () => {
    res.writeHead(status, { "content-type": "application/xml" });
    res.end('<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>');
  });
}

function pace(bytesPerSecond: number): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      await sleep((chunk.length / bytesPerSecond) * 1_000);
      done(null, chunk);
    },
  });
}

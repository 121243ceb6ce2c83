import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { Surface } from "@harrier/contracts";
import { createProxyMiddleware, type Plugin, proxyEventsPlugin } from "http-proxy-middleware";
import type { Replica, Upstreams } from "./upstreams.ts";

/** A request on its way. */
export interface ForwardedRequest extends IncomingMessage {
  replica: Replica;
  surface: Surface;
  /** Epoch ms. */
  deadline: number;
  /** Has been tried on a second replica. */
  repeated: boolean;
  /** The body where it has been read already. */
  readBody: Buffer | undefined;
}

export type Forward = (req: ForwardedRequest, res: ServerResponse) => void;

interface Options {
  upstreams: Upstreams;
  agent: Agent;
  /** Transfers wait for their client too: that one of them came to nothing says nothing of the replica. */
  transfers?: true;
  /** Milliseconds without a byte from the service after which the answer is an error. */
  idleMs: number;
  /** Called when the service could not be asked; nothing has been answered yet. */
  onError(error: Error, req: ForwardedRequest, res: ServerResponse): void;
}

/**
 * The way from the gateway to a replica: connections are kept open, the path stays as it is.
 * A replica that refuses is marked, so that the next request goes elsewhere before the next readiness check.
 */
export function createForward(options: Options): Forward {
  const proxy = createProxyMiddleware<ForwardedRequest, ServerResponse>({
    target: "http://127.0.0.1", // always replaced by the router
    router: (req, _res, own) => {
      // these options are the request's own copy
      if (req.readBody !== undefined) own.buffer = Readable.from([req.readBody], { objectMode: false });
      return req.replica.target;
    },
    // of the default plugins only the events: the others build log lines for every answer that nobody reads
    ejectPlugins: true,
    plugins: [proxyEventsPlugin as unknown as Plugin<ForwardedRequest, ServerResponse>],
    agent: options.agent,
    proxyTimeout: options.idleMs,
    timeout: 0,
    on: {
      error: (error, req, res) => {
        if (options.transfers === undefined || isAbsent(error)) req.replica.ready = false;
        if (!isResponse(res) || res.headersSent) return void res.destroy();
        // only while its signed identity and its budget still stand
        const again = req.method === "GET" && !req.repeated && Date.now() < req.deadline;
        const other = again ? options.upstreams.pickOther(req.replica) : undefined;
        if (other === undefined) return options.onError(error, req, res);
        // reading twice does no harm, and a device need not notice that a replica has gone
        req.replica = other;
        req.repeated = true;
        void proxy(req, res);
      },
    },
  });
  return (req, res) => {
    void proxy(req, res);
  };
}

function isResponse(res: ServerResponse | Socket): res is ServerResponse {
  return "headersSent" in res;
}

const absent: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"]);

/** Nobody is there to be asked. */
function isAbsent(error: Error): boolean {
  return absent.has((error as NodeJS.ErrnoException).code);
}

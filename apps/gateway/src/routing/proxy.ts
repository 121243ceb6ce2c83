import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Surface } from "@harrier/contracts";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { Replica, Upstreams } from "./upstreams.ts";

/** A request on its way. */
export interface ForwardedRequest extends IncomingMessage {
  replica: Replica;
  surface: Surface;
  /** Epoch ms. */
  deadline: number;
  /** Has been tried on a second replica. */
  repeated: boolean;
}

export type Forward = (req: ForwardedRequest, res: ServerResponse) => void;

interface Options {
  upstreams: Upstreams;
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
    router: (req) => req.replica.url,
    agent: options.upstreams.agent,
    proxyTimeout: options.idleMs,
    timeout: 0,
    on: {
      error: (error, req, res) => {
        req.replica.ready = false;
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

import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { bytesPassed, closeBehindBody } from "@harrier/service";
import { createProxyMiddleware, type Plugin, proxyEventsPlugin } from "http-proxy-middleware";
import { type Failure, type Forward, type ForwardedRequest, isAbsent, secondReplica } from "./forward.ts";
import { hasBody } from "./read-body.ts";
import { passAnswer, wholeBody } from "./small-bodies.ts";
import type { Upstreams } from "./upstreams.ts";

interface Options {
  upstreams: Upstreams;
  agent: Agent;
  /**
   * Transfers wait for their client too, so a failed one says nothing about the replica. An upload may pause for `stallMs`, which is less than its
   * service waits for it.
   */
  transfers?: { readonly stallMs: number };
  /** After this many milliseconds without a byte from the service the answer is an error. */
  idleMs: number;
  /** Called when the service could not be called; nothing has been answered yet. */
  onError(failure: Failure): void;
}

/**
 * Forwards requests from the gateway to a replica: connections are kept open, and the path stays as it is. A replica that refuses a connection is
 * marked, so that the next request goes elsewhere before the next readiness check.
 */
export function createForward(options: Options): Forward {
  const proxy = createProxyMiddleware<ForwardedRequest, ServerResponse>({
    target: "http://127.0.0.1", // the router always replaces it
    router: (req, _res, own) => {
      // These options are the request's own copy.
      if (req.readBody !== undefined || !hasBody(req)) own.buffer = wholeBody(req.readBody);
      return req.replica.target;
    },
    // Of the default plugins only the events are used: the others build unused log lines for every answer.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin as unknown as Plugin<ForwardedRequest, ServerResponse>],
    agent: options.agent,
    // The name that the client has for us is none that the service's certificate has to be for.
    changeOrigin: true,
    proxyTimeout: options.idleMs,
    timeout: 0,
    selfHandleResponse: true,
    on: {
      proxyReq: (outgoing, req) => {
        req.outgoing = outgoing;
        // Reading begins in the next turn; in this one the proxy begins to pass the body on, so that it misses nothing.
        if (options.transfers !== undefined && hasBody(req) && req.readBody === undefined) countPassed(req);
      },
      proxyRes: (answer, req, res) => {
        if (options.transfers !== undefined && hasBody(req) && (answer.statusCode ?? 0) >= 400) {
          closeBehindBody(req, res);
          // The service closes its connection, too, behind what it has not read: the next request on it would fail.
          if (req.outgoing !== undefined) req.outgoing.shouldKeepAlive = false;
        }
        // The two ends of a connection decide whether it stays open.
        answer.headers.connection = res.shouldKeepAlive ? "keep-alive" : "close";
        passAnswer(answer, res);
        if (options.transfers !== undefined) countPassed(answer);
      },
      error: (error, req, res) => {
        const code = req.stalled === true ? "requestTimeout" : "unavailable";
        if (code === "unavailable" && (options.transfers === undefined || isAbsent(error))) req.replica.ready = false;
        if (!isResponse(res) || res.headersSent) return void res.destroy();
        const other = secondReplica(options.upstreams, error, req, req.outgoing?.reusedSocket === true);
        if (other === undefined) return options.onError({ error, req, res, code });
        req.replica = other;
        req.repeated = true;
        void proxy(req, res);
      },
    },
  });
  return (req, res) => {
    if (options.transfers !== undefined && hasBody(req) && req.readBody === undefined) watchUpload(req, options.transfers.stallMs);
    void proxy(req, res);
  };
}

/** Tells of the bytes of a body that is being passed on. */
function countPassed(body: IncomingMessage): void {
  body.on("data", (chunk: Buffer) => bytesPassed(chunk.length));
}

const checks = 10;

/** Ends an upload whose client stops sending. While its service does not read, the client waits for us, which is not its fault. */
function watchUpload(req: ForwardedRequest, stallMs: number): void {
  let seen = req.socket.bytesRead;
  let quiet = 0;
  const timer = setInterval(() => {
    if (req.complete || req.destroyed) return clearInterval(timer);
    const { bytesRead } = req.socket;
    quiet = bytesRead === seen && req.readableFlowing !== false ? quiet + 1 : 0;
    seen = bytesRead;
    if (quiet < checks) return;
    clearInterval(timer);
    req.stalled = true;
    req.outgoing?.destroy(new Error("the upload stands still"));
  }, stallMs / checks);
  timer.unref();
}

function isResponse(res: ServerResponse | Socket): res is ServerResponse {
  return "headersSent" in res;
}

import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { Surface } from "@harrier/contracts";
import { createProxyMiddleware, type Plugin, proxyEventsPlugin } from "http-proxy-middleware";
import { hasBody } from "./read-body.ts";
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
  /** The request to the service, as soon as it has a connection. */
  outgoing?: ClientRequest;
  /** The client has not sent its upload to the end and does not go on. */
  stalled?: boolean;
}

export type Forward = (req: ForwardedRequest, res: ServerResponse) => void;

interface Options {
  upstreams: Upstreams;
  agent: Agent;
  /**
   * Transfers wait for their client too: that one of them came to nothing says nothing of the replica. An upload may stand still for
   * `stallMs`, which is less than its service waits for it.
   */
  transfers?: { readonly stallMs: number };
  /** Milliseconds without a byte from the service after which the answer is an error. */
  idleMs: number;
  /** Called when the service could not be asked; nothing has been answered yet. */
  onError(failure: Failure): void;
}

export interface Failure {
  error: Error;
  req: ForwardedRequest;
  res: ServerResponse;
  /** `requestTimeout`: the client did not go on sending. */
  code: "unavailable" | "requestTimeout";
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
      proxyReq: (outgoing, req) => {
        req.outgoing = outgoing;
      },
      proxyRes: (answer, _req, res) => {
        // whether a connection stays open is between us and whoever is at the other end of it
        answer.headers.connection = res.shouldKeepAlive ? "keep-alive" : "close";
      },
      error: (error, req, res) => {
        const code = req.stalled === true ? "requestTimeout" : "unavailable";
        if (code === "unavailable" && (options.transfers === undefined || isAbsent(error))) req.replica.ready = false;
        if (!isResponse(res) || res.headersSent) return void res.destroy();
        // once, and only while its signed identity and its budget still stand
        const again = !req.repeated && mayRepeat(error, req) && Date.now() < req.deadline;
        const other = again ? options.upstreams.pickOther(req.replica) : undefined;
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

const looks = 10;

/** Ends an upload whose client does not go on. While its service takes no more the client waits for us, and that is not its doing. */
function watchUpload(req: ForwardedRequest, stallMs: number): void {
  let seen = req.socket.bytesRead;
  let quiet = 0;
  const timer = setInterval(() => {
    if (req.complete || req.destroyed) return clearInterval(timer);
    const { bytesRead } = req.socket;
    quiet = bytesRead === seen && req.readableFlowing !== false ? quiet + 1 : 0;
    seen = bytesRead;
    if (quiet < looks) return;
    clearInterval(timer);
    req.stalled = true;
    req.outgoing?.destroy(new Error("the upload stands still"));
  }, stallMs / looks);
  timer.unref();
}

const idempotent: ReadonlySet<unknown> = new Set(["PUT", "DELETE"]);

/**
 * May another replica be asked the same? Reading twice does no harm. What changes something may be sent again when nobody was there, and, where
 * carrying it out twice stores the same as once, when a connection that had been kept open is reset: as a rule its service had just closed it, but
 * nobody can tell that from one that died before its answer. A body must be here as a whole.
 */
function mayRepeat(error: Error, req: ForwardedRequest): boolean {
  if (req.readBody === undefined && hasBody(req)) return false;
  if (req.method === "GET" || req.method === "HEAD" || isAbsent(error)) return true;
  const { code } = error as NodeJS.ErrnoException;
  return idempotent.has(req.method) && (code === "ECONNRESET" || code === "EPIPE") && req.outgoing?.reusedSocket === true;
}

function isResponse(res: ServerResponse | Socket): res is ServerResponse {
  return "headersSent" in res;
}

const absent: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"]);

/** Nobody is there to be asked. */
function isAbsent(error: Error): boolean {
  return absent.has((error as NodeJS.ErrnoException).code);
}

import http from "node:http";
import https from "node:https";

type Transport = Pick<typeof http, "request">;

const defaultSilenceMs = 30_000;
/** A store may send nothing while it copies an object of many gigabytes or puts its parts together. */
const longSilenceMs = 600_000;

/** Creates an error with Node's code for a silent peer, so that it counts as a failed connection and the request is repeated. */
function silent(ms: number): Error {
  return Object.assign(new Error(`the object store said nothing for ${ms} ms`), { code: "ETIMEDOUT" });
}

/**
 * Creates a transport whose requests to the object store fail when nothing is sent or received for `silenceMs`, whether they connect, send
 * a part or wait for the answer. Once the bytes of an object begin to arrive there is no such limit: the client that they are sent to sets
 * the pace, and a download has a timeout of its own.
 */
export function timedTransport(protocol: string, silenceMs = defaultSilenceMs): Transport {
  const { request } = protocol === "https:" ? https : http;
  const timed = (options: http.RequestOptions, onAnswer?: (answer: http.IncomingMessage) => void): http.ClientRequest => {
    const ms = isLong(options) ? longSilenceMs : silenceMs;
    const sent = request(options, onAnswer);
    sent.setTimeout(ms, () => sent.destroy(silent(ms)));
    if (isDownload(options)) sent.once("response", () => sent.setTimeout(0));
    return sent;
  };
  return { request: timed as Transport["request"] };
}

/** Recognises a request for an object's bytes: it is the only GET without a query. */
function isDownload({ method, path }: http.RequestOptions): boolean {
  return method === "GET" && !(path ?? "").includes("?");
}

function isLong({ method, path, headers }: http.RequestOptions): boolean {
  const copies = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "x-amz-copy-source");
  return copies || (method === "POST" && (path ?? "").includes("uploadId="));
}

import http from "node:http";
import https from "node:https";

type Transport = Pick<typeof http, "request">;

const defaultSilenceMs = 30_000;
/** A store that copies or puts an object of many gigabytes together may say nothing until it is done. */
const longSilenceMs = 600_000;

/** Node's own code for a peer that went quiet, so that it counts as a failure of the connection and is tried again. */
function silent(ms: number): Error {
  return Object.assign(new Error(`the object store said nothing for ${ms} ms`), { code: "ETIMEDOUT" });
}

/**
 * Requests to the object store that end with an error when nothing moves for `silenceMs`, be it while connecting, while a part is sent
 * or while the answer is waited for. The bytes of an object are not timed once they have begun to come: how fast they move is up to
 * whom they are sent to, and a download has a limit of its own.
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

/** Of the calls that ask for something, only that for an object's bytes has no query. */
function isDownload({ method, path }: http.RequestOptions): boolean {
  return method === "GET" && !(path ?? "").includes("?");
}

function isLong({ method, path, headers }: http.RequestOptions): boolean {
  const copies = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "x-amz-copy-source");
  return copies || (method === "POST" && (path ?? "").includes("uploadId="));
}

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";

/** Bodies up to this many bytes are sent with their head in one write; copying them costs less than a stream for them. */
const maxBytes = 64 * 1024;

/**
 * Makes the source that the proxy sends as the body of a request. The proxy only calls `pipe` of it; a stream, and the listeners that `pipe` adds on
 * both sides, would cost a tenth of a forwarded request for one write that is known from the beginning.
 */
export function wholeBody(body: Buffer | undefined): Readable {
  const pipe = (outgoing: ClientRequest): ClientRequest => {
    endWith(outgoing, body === undefined ? [] : [body]);
    return outgoing;
  };
  return { pipe } as unknown as Readable;
}

/** Passes an answer of a service on to the client: a short one whole, in one write, any other as it arrives. */
export function passAnswer(answer: IncomingMessage, res: ServerResponse): void {
  if (res.headersSent || res.destroyed) return void answer.resume();
  beginAnswer(res, answer);
  if (!isShort(answer.headers)) return void answer.pipe(res);
  const parts: Buffer[] = [];
  answer.on("data", (part: Buffer) => parts.push(part));
  // An answer that is cut off never ends; the proxy then ends the connection to the client, as it does in the middle of a long one.
  answer.once("end", () => endWith(res, parts));
}

/** The head of a service's answer. */
interface Head {
  readonly statusCode?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Takes the head of a service's answer for the client; it is sent with the first bytes. */
export function beginAnswer(res: ServerResponse, { statusCode = 200, statusMessage, headers }: Head): void {
  // HTTP/1.0 has no chunks, and answers without a body have none either.
  if (res.req.httpVersion === "1.0" || statusCode === 204 || statusCode === 304) delete headers["transfer-encoding"];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) res.setHeader(name, value);
  }
  res.statusCode = statusCode;
  if (statusMessage) res.statusMessage = statusMessage;
}

/** Returns true if the whole answer is kept until it can be sent in one write. */
export function isShort(headers: IncomingHttpHeaders): boolean {
  return Number(headers["content-length"]) <= maxBytes;
}

/** Ends a message with its body, as a text: Node joins it with the head into one piece, which it does not with a buffer. Latin-1 keeps every byte. */
export function endWith(message: ClientRequest | ServerResponse, parts: readonly Buffer[]): void {
  if (parts.length === 0) return void message.end();
  const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  if (body.length <= maxBytes) message.end(body.toString("latin1"), "latin1");
  else message.end(body);
}

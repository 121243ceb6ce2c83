import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";

/** Bodies up to this many bytes are sent with their head in one write; copying them costs less than a stream for them. */
const maxBytes = 64 * 1024;

/**
 * Makes the source that the proxy sends as the body of a request. The proxy only calls `pipe` of it; a stream, and the listeners that `pipe` adds on
 * both sides, would cost a tenth of a forwarded request for one write that is known from the beginning.
 */
export function wholeBody(body: Buffer | undefined): Readable {
  const pipe = (outgoing: ClientRequest): ClientRequest => {
    if (body === undefined) outgoing.end();
    else endWith(outgoing, body);
    return outgoing;
  };
  return { pipe } as unknown as Readable;
}

/** Passes an answer of a service on to the client: a short one whole, in one write, any other as it arrives. */
export function passAnswer(answer: IncomingMessage, res: ServerResponse): void {
  if (res.headersSent || res.destroyed) return void answer.resume();
  const { statusCode = 200, statusMessage, headers } = answer;
  // HTTP/1.0 has no chunks, and answers without a body have none either.
  if (res.req.httpVersion === "1.0" || statusCode === 204 || statusCode === 304) delete headers["transfer-encoding"];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) res.setHeader(name, value);
  }
  res.statusCode = statusCode;
  if (statusMessage) res.statusMessage = statusMessage;
  if (!(Number(headers["content-length"]) <= maxBytes)) return void answer.pipe(res);
  const chunks: Buffer[] = [];
  answer.on("data", (chunk: Buffer) => chunks.push(chunk));
  // An answer that is cut off never ends; the proxy then ends the connection to the client, as it does in the middle of a long one.
  answer.once("end", () => {
    if (chunks.length === 0) res.end();
    else endWith(res, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
  });
}

/** Ends a message with its body, as a text: Node joins it with the head into one piece, which it does not with a buffer. Latin-1 keeps every byte. */
function endWith(message: ClientRequest | ServerResponse, body: Buffer): void {
  if (body.length <= maxBytes) message.end(body.toString("latin1"), "latin1");
  else message.end(body);
}

import type { Agent, IncomingMessage, RequestOptions } from "node:http";

/** What is loaded of node for one kind of address. */
interface Way {
  readonly request: (
    url: string,
    options: RequestOptions,
    answered: (answer: IncomingMessage) => void,
  ) => import("node:http").ClientRequest;
  /** Reads go over connections that are kept. */
  readonly kept: Agent;
}
const ways = new Map<string, Promise<Way>>();

async function wayFor(protocol: string): Promise<Way> {
  const { request, Agent } = protocol === "https:" ? await import("node:https") : await import("node:http");
  return { request, kept: new Agent({ keepAlive: true }) };
}

/**
 * What the client needs of fetch, by node's http: to load node's own fetch takes as long as a whole list may (contract console.md §5, bounds). Bodies
 * that stream go by fetch. A change gets a connection of its own: where the server closes a kept one meanwhile, nobody could say whether it was carried out.
 */
export const quickFetch = (async (input: string, init: RequestInit = {}): Promise<Response> => {
  const { body, method = "GET", headers, signal, redirect } = init;
  if (body !== undefined && body !== null && typeof body !== "string") return fetch(input, init);
  const { protocol } = new URL(input);
  const way = ways.get(protocol) ?? wayFor(protocol);
  ways.set(protocol, way);
  const { request, kept } = await way;
  const options: RequestOptions = {
    method,
    headers: headers as Record<string, string>,
    agent: method === "GET" ? kept : false,
    ...(signal ? { signal } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(input, options, (answer) => {
      const { statusCode = 0 } = answer;
      if (redirect === "error" && statusCode >= 300 && statusCode < 400) {
        answer.destroy();
        reject(new TypeError(`answered by a redirect (${statusCode})`));
      } else resolve(responseOf(answer));
    });
    sent.on("error", reject);
    sent.end(body ?? undefined);
  });
}) as typeof fetch;

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0 } = answer;
  const headers = {
    get: (name: string) => {
      const value = answer.headers[name.toLowerCase()];
      return value === undefined ? null : [value].flat().join(", ");
    },
  };
  return { status, ok: status >= 200 && status < 300, headers, body: streamOf(answer) } as unknown as Response;
}

/** Reads as fast as the reader does. */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      answer.on("data", (chunk: Uint8Array) => {
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) answer.pause();
      });
      answer.once("end", () => controller.close());
      answer.once("error", (error) => controller.error(error));
      answer.pause();
    },
    pull() {
      answer.resume();
    },
    cancel() {
      answer.removeAllListeners("data").removeAllListeners("end").destroy();
    },
  });
}

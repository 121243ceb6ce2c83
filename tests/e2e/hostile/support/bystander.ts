import { Agent, request } from "node:http";

/** What one kind of request was like for a client that is not part of the attack. */
export interface Seen {
  readonly kind: string;
  requests: number;
  /** The longest time until the last byte of the answer, in ms. */
  worstMs: number;
  /** The number of answers that were not 2xx, by status or by the connection's error. */
  readonly wrong: Record<string, number>;
}

/** One request of a bystander. */
export interface Requested {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Bystander {
  readonly kind: string;
  /** The pause from the end of one request to the next. */
  readonly everyMs: number;
  /** True if each request uses a connection of its own: new clients must be able to connect too. */
  readonly connectsAnew?: boolean;
  /** Returns the next request; undefined ends the requests. */
  next(): Requested | undefined;
}

const limitMs = 15_000;

/** Sends one request after the other until the returned function is called, which resolves to the observations. */
export function standBy(port: number, bystander: Bystander): () => Promise<Seen> {
  const seen: Seen = { kind: bystander.kind, requests: 0, worstMs: 0, wrong: {} };
  const agent = new Agent({ keepAlive: !bystander.connectsAnew, maxSockets: 1 });
  let over = false;
  const running = (async () => {
    while (!over) {
      const requested = bystander.next();
      if (requested === undefined) break;
      const began = performance.now();
      const outcome = await ask(port, requested, agent);
      seen.requests += 1;
      seen.worstMs = Math.max(seen.worstMs, Math.round(performance.now() - began));
      if (!/^2\d\d$/.test(outcome)) seen.wrong[outcome] = (seen.wrong[outcome] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, bystander.everyMs));
    }
    agent.destroy();
  })();
  return async () => {
    over = true;
    await running;
    return seen;
  };
}

/** Sends a request; returns the status, or the error's code where there was none. */
export function ask(port: number, { method = "GET", path, headers, body }: Requested, agent?: Agent): Promise<string> {
  const bytes = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      method,
      path,
      agent: agent ?? false,
      headers: { accept: "application/json", ...(bytes === undefined ? {} : { "content-type": "application/json" }), ...headers },
      signal: AbortSignal.timeout(limitMs),
    });
    sent.on("response", (answer) => {
      answer.resume();
      answer.on("end", () => resolve(String(answer.statusCode))).on("error", (error) => resolve(codeOf(error)));
    });
    sent.on("error", (error) => resolve(codeOf(error)));
    sent.end(bytes);
  });
}

const codeOf = (error: Error & { code?: string }): string => String(error.code ?? error.name);

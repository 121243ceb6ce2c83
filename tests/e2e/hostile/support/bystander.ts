import { Agent, request } from "node:http";

/** What one kind of request was like for somebody who has nothing to do with the attack. */
export interface Seen {
  readonly kind: string;
  requests: number;
  /** Until the last byte of the answer, in ms. */
  worstMs: number;
  /** Of what was not answered 2xx: how often, by status or by the connection's error. */
  readonly wrong: Record<string, number>;
}

/** One request of a bystander. */
export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Bystander {
  readonly kind: string;
  /** From the end of one request to the next. */
  readonly everyMs: number;
  /** A connection for each request: who is new has to get in as well. */
  readonly connectsAnew?: boolean;
  /** The next request; undefined: no more. */
  next(): Asked | undefined;
}

const limitMs = 15_000;

/** Asks one after the other until the returned function is called, which resolves to what was seen. */
export function standBy(port: number, bystander: Bystander): () => Promise<Seen> {
  const seen: Seen = { kind: bystander.kind, requests: 0, worstMs: 0, wrong: {} };
  const agent = new Agent({ keepAlive: !bystander.connectsAnew, maxSockets: 1 });
  let over = false;
  const running = (async () => {
    while (!over) {
      const asked = bystander.next();
      if (asked === undefined) break;
      const began = performance.now();
      const outcome = await ask(port, asked, agent);
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

/** The status, or the error's code where there was none. */
export function ask(port: number, { method = "GET", path, headers, body }: Asked, agent?: Agent): Promise<string> {
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

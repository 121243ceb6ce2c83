import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type Dispatcher, request } from "undici";

export interface Call {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | FormData;
  /** The longest time without a byte. */
  readonly idleMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** HTTP with connections that are kept and shared, like those of a fleet behind one gateway. */
export interface Http {
  send(url: string, call?: Call): Promise<Answer>;
  /** It is for bodies that are not kept: each chunk goes to `take`. Rejects when the body ends early. */
  stream(
    url: string,
    call: Call,
    take: (chunk: Buffer) => void,
    accept: (answer: Omit<Answer, "body">) => boolean,
  ): Promise<Answer | undefined>;
  close(): Promise<void>;
}

export function createHttp(connections: number): Http {
  const agent = new Agent({ connections, pipelining: 1, connect: { timeout: 10_000 } });
  const open = (url: string, call: Call): Promise<Dispatcher.ResponseData> => {
    const { method = "GET", headers = {}, body = null, idleMs = 30_000 } = call;
    return request(url, {
      dispatcher: agent,
      method,
      headers,
      body: body as string | Buffer | null,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    });
  };
  return {
    async send(url, call = {}) {
      const { statusCode, headers, body } = await open(url, call);
      return { status: statusCode, headers, body: Buffer.from(await body.arrayBuffer()) };
    },
    async stream(url, call, take, accept) {
      const { statusCode, headers, body } = await open(url, call);
      if (!accept({ status: statusCode, headers })) return { status: statusCode, headers, body: Buffer.from(await body.arrayBuffer()) };
      for await (const chunk of body) take(chunk as Buffer);
      return undefined;
    },
    close: () => agent.destroy(),
  };
}

export interface RetryPolicy {
  /** The request is repeated for so long. */
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly onRetry?: (reason: string) => void;
  /** Further statuses that are no answer, besides 429 and 5xx. */
  readonly notAnswers?: readonly number[];
}

export interface Settled {
  readonly answer: Answer;
  /** An earlier attempt got no clear answer, so it may have been processed all the same. */
  readonly repeated: boolean;
}

/** Only these statuses say that nothing was decided; everything else is the answer. */
function isTransient(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Repeats a request until it is answered, because services may be restarted at any time, and a device does not give up. */
export async function untilAnswered(attempt: () => Promise<Answer>, retryPolicy: RetryPolicy): Promise<Settled> {
  const until = Date.now() + retryPolicy.ms;
  let repeated = false;
  for (let tries = 0; ; tries += 1) {
    let reason: string;
    let last: Answer | undefined;
    try {
      last = await attempt();
      if (!isTransient(last.status) && retryPolicy.notAnswers?.includes(last.status) !== true) return { answer: last, repeated };
      reason = `status ${last.status}`;
      // a request that was refused had certainly no effect
      if (last.status >= 500) repeated = true;
    } catch (error) {
      if (retryPolicy.signal.aborted) throw error;
      reason = describe(error);
      repeated = true;
    }
    if (Date.now() >= until) {
      if (last !== undefined) return { answer: last, repeated };
      throw new Error(`no answer within ${retryPolicy.ms} ms: ${reason}`);
    }
    retryPolicy.onRetry?.(reason);
    await sleep(backOff(tries), undefined, { signal: retryPolicy.signal });
  }
}

/** Answers a random wait of 100 ms to 2 s, so that a fleet does not come back all at once. */
export function backOff(tries: number): number {
  return Math.min(100 * 2 ** tries, 2_000) * (0.5 + Math.random() / 2);
}

export function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
}

export function parseJson<T>(answer: Answer): T {
  return JSON.parse(answer.body.toString()) as T;
}

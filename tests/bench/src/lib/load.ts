import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";

export interface LoadResult {
  requests: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The number of unexpected answers: a benchmark with any is void. */
  bad: number;
}

export interface LoadRequest {
  path: string;
  method?: "GET" | "POST" | "PUT";
  headers: Record<string, string>;
  body?: string;
}

export interface LoadOptions {
  url: string;
  connections: number;
  requests: number;
  next(index: number): LoadRequest;
  expect: number;
  /** Requests per second; without it each follows its predecessor's answer. Latency then counts from the moment a request was due. */
  rate?: number;
  /** The signal ends the load before all requests are made. */
  signal?: AbortSignal;
}

/** Runs a closed loop: each connection sends again as soon as it has an answer; with a rate, not before its next request is due. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const pool = new Pool(options.url, { connections: options.connections, pipelining: 1 });
  const latencies = new Float64Array(options.requests);
  let index = 0;
  let bad = 0;
  let made = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const i = index++;
      if (i >= options.requests || options.signal?.aborted) return;
      const { path, method = "GET", headers, body } = options.next(i);
      const due = options.rate === undefined ? 0 : began + (i * 1_000) / options.rate;
      if (due > performance.now()) await sleep(due - performance.now());
      const from = due || performance.now();
      const answer = await pool.request({ path, method, headers, ...(body === undefined ? {} : { body }) });
      await answer.body.dump();
      latencies[i] = performance.now() - from;
      made += 1;
      if (answer.statusCode !== options.expect) bad += 1;
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: options.connections }, worker));
  const seconds = (performance.now() - began) / 1_000;
  await pool.close();
  const sorted = latencies.subarray(0, made).sort(); // requests are made in order, and those that were begun are ended
  const at = (q: number) => sorted[Math.min(made - 1, Math.floor(made * q))] ?? 0;
  return { requests: made, seconds, perSecond: made / seconds, p50Ms: at(0.5), p99Ms: at(0.99), bad };
}

import { Pool } from "undici";

export interface LoadResult {
  requests: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that were not expected: a benchmark with any is void. */
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
}

/** Closed loop: each connection asks again as soon as it is answered. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const pool = new Pool(options.url, { connections: options.connections, pipelining: 1 });
  const latencies = new Float64Array(options.requests);
  let index = 0;
  let bad = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const i = index++;
      if (i >= options.requests) return;
      const { path, method = "GET", headers, body } = options.next(i);
      const from = performance.now();
      const answer = await pool.request({ path, method, headers, ...(body === undefined ? {} : { body }) });
      await answer.body.dump();
      latencies[i] = performance.now() - from;
      if (answer.statusCode !== options.expect) bad += 1;
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: options.connections }, worker));
  const seconds = (performance.now() - from) / 1_000;
  await pool.close();
  latencies.sort();
  const at = (q: number) => latencies[Math.min(options.requests - 1, Math.floor(options.requests * q))] ?? 0;
  return { requests: options.requests, seconds, perSecond: options.requests / seconds, p50Ms: at(0.5), p99Ms: at(0.99), bad };
}

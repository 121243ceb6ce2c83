import { setTimeout as sleep } from "node:timers/promises";
import { startStack } from "@harrier/stack";
import { Pool } from "undici";
import { createApi } from "../lib/api.ts";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, heldMiB, total } from "../lib/cpu.ts";
import { type LoadRequest, load } from "../lib/load.ts";
import { seedSet, seedTargets } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";
import type { StartStack } from "./against.ts";

const changes = 20;
const listeners = 500;
/** So many streams a gateway lets a user have (docs/operations.md). */
const perUser = 16;
/** So many users with a password a request may make. */
const perRequest = 20;
/** So many pages are read before memory is measured. */
const pages = 2_000;
const restMs = 10_000;
const windowMs = 20_000;
const readingMs = 1_000;
const changeEveryMs = 100;
const budget = { heardMs: 1_000, coreShare: 5, mebibytes: 30 };

/** Starts the services with a gateway at which one tenant may have so many streams; by default it has fewer. */
export const startForListeners: StartStack = (options) =>
  startStack({ ...options, gateway: { HARRIER_IN_FLIGHT_TENANT: String(listeners + 1) } });

const scenario = "stream of changes";

/**
 * Measures how soon a listener hears of changes of each service, and what 500 listeners cost gateway and management while nothing happens, and while ten
 * changes a second do.
 */
export async function benchChangeStream(bench: Bench): Promise<void> {
  const pool = new Pool(bench.stack.baseUrl, { connections: listeners + 1, bodyTimeout: 0 });
  try {
    const kinds = await kindsOfChanges(bench);
    const one = await listen(bench, pool);
    for (const kind of kinds) tellHeard(bench, kind.what, await heardAfter(one, kind, changes));
    one.end();
    await costOfListeners(bench, pool, kinds[0] as Change);
  } finally {
    await pool.destroy();
  }
}

/** A change that can be made again and again, and the subject that listeners are told. */
interface Change {
  what: string;
  subject: string;
  make(n: number): Promise<unknown>;
}

/** A change in the outbox of each service: controller, management and rollout-engine. */
async function kindsOfChanges({ api }: Bench): Promise<Change[]> {
  const [id = ""] = await seedTargets(api, "heard-", 1);
  const set = await seedSet(api, "heard-set");
  const rollout = await api.post<{ id: number }>("/rollouts", {
    ...{ name: "heard", distributionSetId: set.id, targetFilterQuery: `controllerid==${id}`, amountGroups: 1 },
  });
  const become = async (status: string) => {
    while ((await api.get<{ status: string }>(`/rollouts/${rollout.id}`)).status !== status) await sleep(20);
  };
  await become("ready");
  await api.post(`/rollouts/${rollout.id}/start`, undefined);
  await become("running");
  const step = (n: number) => api.post(`/rollouts/${rollout.id}/${n % 2 === 0 ? "pause" : "resume"}`, undefined);
  return [
    { what: "target", subject: `targets/${id}`, make: (n) => api.put(`/targets/${id}`, { name: `heard ${n}` }) },
    {
      what: "set",
      subject: `distributionsets/${set.id}`,
      make: (n) => api.put(`/distributionsets/${set.id}`, { name: `heard ${n}` }),
    },
    { what: "rollout", subject: `rollouts/${rollout.id}`, make: step },
  ];
}

/** Makes changes one after the other and answers after how many milliseconds each was heard. */
async function heardAfter(listener: Listener, { subject, make }: Change, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const heard = listener.next(subject);
    const from = performance.now();
    await make(n);
    await heard;
    times.push(performance.now() - from);
  }
  return times;
}

function tellHeard({ report }: Bench, what: string, times: readonly number[]): void {
  const worst = Math.max(...times);
  report.add({ scenario, figure: `${what} changed → heard, median`, value: median([...times]), unit: "ms" });
  const limit = `budget ${budget.heardMs} ms`;
  report.add({ scenario, figure: `${what} changed → heard, worst`, value: worst, unit: "ms", limit, ok: worst <= budget.heardMs });
}

async function costOfListeners(bench: Bench, pool: Pool, change: Change): Promise<void> {
  const credentials = await createListeners(bench);
  const without = await costs(bench);
  const all: Listener[] = [];
  // A tenant's statements wait for each other, 50 of them at most (docs/operations.md), so that not all listeners may come in the same moment.
  for (const authorization of credentials) {
    const places = Math.min(perUser, listeners - all.length);
    all.push(...(await Promise.all(Array.from({ length: places }, () => listen(bench, pool, authorization)))));
  }
  const held = await costs(bench);
  await costOfChanges(bench, all, change);
  for (const each of all) each.end();
  const share = Math.max(0, held.cpuPercent - without.cpuPercent);
  const mebibytes = held.mebibytes - without.mebibytes;
  const figure = `${listeners} listeners`;
  const add = bench.report.add;
  const limit = `budget ${budget.coreShare} %`;
  add({ scenario, figure: `${figure}, of a core`, value: share, unit: "%", limit, ok: share <= budget.coreShare });
  const limitMiB = `budget ${budget.mebibytes} MiB`;
  add({ scenario, figure: `${figure}, memory`, value: mebibytes, unit: "MiB", limit: limitMiB, ok: mebibytes <= budget.mebibytes });
}

/**
 * Makes ten changes a second for a while, of which all listeners hear, and measures what that takes, and for how long a listener hears of none: changes
 * that come before the one before them is told are told with it.
 */
async function costOfChanges(bench: Bench, all: readonly Listener[], change: Change): Promise<void> {
  const [first] = all;
  if (first === undefined) return;
  const before = total(cpuSeconds(bench.groups()));
  const from = performance.now();
  let done = 0;
  const made = (async () => {
    for (let n = 0; performance.now() - from < windowMs; n++) {
      const due = from + n * changeEveryMs;
      await sleep(Math.max(0, due - performance.now()));
      await change.make(n);
      done = n + 1;
    }
  })();
  const times: number[] = [];
  while (performance.now() - from < windowMs - readingMs) {
    const since = performance.now();
    await first.next(change.subject);
    times.push(performance.now() - since);
  }
  await made;
  const seconds = (performance.now() - from) / 1_000;
  const share = ((total(cpuSeconds(bench.groups())) - before) * 100) / seconds;
  const figure = `${all.length} listeners, ${(done / seconds).toFixed(1)} changes a second`;
  bench.report.add({ scenario, figure: `${figure}, all processes, of a core`, value: share, unit: "%", limit: "no budget" });
  const worst = Math.max(...times);
  const limit = `budget ${budget.heardMs} ms`;
  bench.report.add({ scenario, figure: `${figure}, longest silence`, value: worst, unit: "ms", limit, ok: worst <= budget.heardMs });
}

/**
 * Answers what all processes take for a while, in percent of a core, and the least that gateway and management hold meanwhile: garbage comes and goes.
 * It is measured after the same requests each time: what a process needs for its first ones is not what listeners cost, nor is the garbage of their
 * sign-in, which nobody collects while nothing happens.
 */
async function costs(bench: Bench): Promise<{ cpuPercent: number; mebibytes: number }> {
  const { bad } = await load({ url: bench.stack.baseUrl, connections: 16, requests: pages, expect: 200, next: () => page(bench) });
  if (bad > 0) throw new Error(`${bad} of ${pages} pages were refused`);
  await sleep(restMs); // what has begun before comes to rest
  const serving = bench.stack.processes().filter(({ name }) => /^(gateway|management)/.test(name));
  const before = total(cpuSeconds(bench.groups()));
  const held: number[] = [];
  for (let ms = 0; ms < windowMs; ms += readingMs) {
    await sleep(readingMs);
    held.push(serving.reduce((sum, { pid }) => sum + heldMiB(pid), 0));
  }
  const seconds = total(cpuSeconds(bench.groups())) - before;
  return { cpuPercent: (seconds * 100_000) / windowMs, mebibytes: Math.min(...held) };
}

const authorizationOf = ({ stack }: Bench): string => `Basic ${Buffer.from(`admin:${stack.adminPassword}`).toString("base64")}`;
const page = (bench: Bench): LoadRequest => ({ path: "/api/mgmt/v1/targets", headers: { authorization: authorizationOf(bench) } });

/** Makes as many users as the listeners need, and answers their credentials. They have signed in: what a password takes is not what listeners cost. */
async function createListeners({ api, stack }: Bench): Promise<string[]> {
  const names = Array.from({ length: Math.ceil(listeners / perUser) }, (_, n) => `listener-${n}`);
  const password = "one that hears of changes";
  const users = names.map((name) => ({ name, password, permissions: ["READ_TARGET", "READ_ROLLOUT"] }));
  for (let from = 0; from < users.length; from += perRequest) await api.post("/users", users.slice(from, from + perRequest));
  for (const name of names) {
    const listener = createApi(stack.baseUrl, password, name);
    await listener.get("/targets?limit=1");
    await listener.close();
  }
  return names.map((name) => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`);
}

interface Listener {
  /** Resolves with the next message that names the subject. */
  next(subject: string): Promise<void>;
  end(): void;
}

/** Opens a stream of changes; resolves when its first message is there. */
async function listen(bench: Bench, pool: Pool, authorization = authorizationOf(bench)): Promise<Listener> {
  const path = "/api/mgmt/v1/events/stream?changes=true";
  const { body, statusCode } = await pool.request({ method: "GET", path, headers: { authorization } });
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
  let waiting: { subject: string; heard: () => void } | undefined;
  const first = new Promise<void>((heard) => {
    waiting = { subject: "*", heard };
  });
  body.on("data", (chunk: Buffer) => {
    if (waiting !== undefined && chunk.toString().includes(`"${waiting.subject}"`)) {
      waiting.heard();
      waiting = undefined;
    }
  });
  body.on("error", () => undefined); // a listener that leaves
  await first;
  return {
    next: (subject) =>
      new Promise((heard) => {
        waiting = { subject, heard };
      }),
    end: () => void body.destroy(),
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import type { Answer, Call } from "@harrier/testkit";
import { adminOf } from "./replicas.ts";

const timeoutMs = 60_000;
/** With these answers nothing was decided, or the outcome is unknown. */
const isTransient = (status: number): boolean => status === 502 || status === 503 || status === 504;

export interface Settled<Body> {
  answer: Answer<Body>;
  /** True if an earlier attempt got no clear answer, and may have been carried out. */
  repeated: boolean;
}

export type ResilientAdmin = ReturnType<typeof resilientAdmin>;

/**
 * A client of an administrator that survives the death of any process behind the API: it repeats unanswered requests, and checks whether they were
 * done.
 */
export function resilientAdmin(stack: Stack) {
  const admin = adminOf(stack);

  async function settle<Body>(path: string, options: Call = {}): Promise<Settled<Body>> {
    const until = Date.now() + timeoutMs;
    for (let repeated = false; ; repeated = true) {
      const answer = await admin.call<Body>(path, options).catch((error: Error) => error);
      if (!(answer instanceof Error) && !isTransient(answer.status)) return { answer, repeated };
      if (Date.now() > until) throw answer instanceof Error ? answer : new Error(`${path}: still ${answer.status}`);
      await sleep(100);
    }
  }

  async function get<Body>(path: string): Promise<Body> {
    const { answer } = await settle<Body>(path);
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Creates an entity; where an earlier attempt has created it already, `find` looks it up. */
  async function create<Body>(path: string, body: unknown, find: () => Promise<Body | undefined>): Promise<Body> {
    const { answer, repeated } = await settle<Body>(path, { method: "POST", body });
    if (answer.status === 200 || answer.status === 201) return answer.body;
    const existing = repeated && answer.status === 409 ? await find() : undefined;
    if (existing === undefined) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return existing;
  }

  return { settle, get, create };
}

import { setTimeout as sleep } from "node:timers/promises";
import { uniqueName } from "@harrier/testkit";
import { numbersFrom } from "./random-kills.ts";
import type { ResilientAdmin, Settled } from "./resilient-admin.ts";

export interface ChaosRollout {
  id: number;
  setId: number;
}

/** How often a command was carried out, and how often it was denied because of the rollout's state. */
export type Tally = Record<string, { done: number; refused: number }>;

export interface Commands {
  readonly tally: Tally;
  /** The rollouts that were created beside the main rollout. */
  readonly rollouts: readonly ChaosRollout[];
  stop(): Promise<void>;
}

interface Rollout {
  id: number;
  status: string;
}

/** A command may get these errors if its state does not allow it, or if it is repeated because its first answer was lost. */
const refusals = new Set([400, 404, 405, 409, 410, 423]);
const timeoutMs = 30_000;
const cooldownMs = { from: 300, to: 2_500 };

/**
 * Plays an administrator who pauses and resumes the main rollout, supersedes it on parts of the fleet, and stops, deletes and invalidates what
 * supersedes it; every rollout has this safety policy. The seed alone decides which command comes next.
 */
export function startCommands(api: ResilientAdmin, main: ChaosRollout, sets: readonly number[], seed: number, safety: object): Commands {
  const random = numbersFrom(seed ^ 0x5bd1e995);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const tally: Tally = {};
  const rollouts: ChaosRollout[] = [];
  const unused = [...sets];
  const count = (name: string, { answer }: Settled<unknown>) => {
    if (answer.status > 299 && !refusals.has(answer.status)) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    tally[name] ??= { done: 0, refused: 0 };
    tally[name][answer.status > 299 ? "refused" : "done"] += 1;
  };
  const step = async (name: string, id: number, verb = name) => count(name, await api.settle(`rollouts/${id}/${verb}`, { method: "POST" }));

  /** Creates a rollout over a hundredth of the fleet; `startAt` is its automatic start. */
  async function make(setId: number, startAt?: number): Promise<number> {
    const name = uniqueName("chaos");
    const part = `controllerid==chaos-*${Math.floor(random() * 10)}${Math.floor(random() * 10)}`;
    const body = { name, distributionSetId: setId, targetFilterQuery: part, amountGroups: 2, safety, ...(startAt ? { startAt } : {}) };
    const find = async () => (await api.get<{ content: Rollout[] }>(`rollouts?q=name==${name}`)).content[0];
    return (await api.create<Rollout>("rollouts", body, find)).id;
  }

  /** Creates one more superseding rollout; none when all sets are used. */
  async function supersede(): Promise<ChaosRollout | undefined> {
    const setId = unused.shift();
    if (setId === undefined) return undefined;
    const made = { id: await make(setId, 1), setId };
    rollouts.push(made);
    tally["supersede"] = { done: rollouts.length, refused: 0 };
    return made;
  }

  /** Finds a rollout that is running, for the commands that need one. */
  async function busy(): Promise<ChaosRollout | undefined> {
    const made = await supersede();
    if (made === undefined) return pick(rollouts);
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(100)) {
      const { status } = await api.get<Rollout>(`rollouts/${made.id}`);
      if (status !== "creating" && status !== "ready") break;
    }
    return made;
  }

  const commands: Record<string, () => Promise<unknown>> = {
    pause: () => step("pause", main.id),
    resume: () => step("resume", main.id),
    supersede,
    async "delete before start"() {
      const id = await make(main.setId);
      count("delete before start", await api.settle(`rollouts/${id}`, { method: "DELETE" }));
    },
    async "delete while it runs"() {
      const one = await busy();
      if (one) count("delete while it runs", await api.settle(`rollouts/${one.id}`, { method: "DELETE" }));
    },
    async stop() {
      const one = await busy();
      if (one) await step("stop", one.id);
    },
    async invalidate() {
      const one = await busy();
      const body = { actionCancelationType: random() < 0.5 ? "soft" : "force", cancelRollouts: true };
      if (one) count("invalidate", await api.settle(`distributionsets/${one.setId}/invalidate`, { method: "POST", body }));
    },
  };
  const dice = ["pause", "resume", "resume", "supersede", "supersede", "delete before start", "delete while it runs", "stop", "invalidate"];
  let working = true;
  const done = (async () => {
    for (let n = 0; working; n += 1) {
      await sleep(cooldownMs.from + random() * (cooldownMs.to - cooldownMs.from));
      // Each command is used at least once, then at random.
      await commands[n < dice.length ? (dice[n] as string) : (pick(dice) as string)]?.();
    }
  })();
  done.catch(() => undefined); // `stop` reports it
  return {
    tally,
    rollouts,
    stop() {
      working = false;
      return done;
    },
  };
}

import { type Queryable, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { PollingPlan } from "../settings/polling-plan.ts";
import { type OverridingStatements, overridingStatements } from "./overrides.sql.ts";
import { type PollRow, pollStatements } from "./poll.sql.ts";

/** One target's poll. */
export interface PollKey {
  tenantId: number;
  controllerId: string;
  address: string | null;
}

/** Without a plan, or where it has no overrides, all tenants' polls are read alike. */
export type PollReader = (key: PollKey, plan?: PollingPlan) => Promise<PollRow | undefined>;

type ReadPoll = (key: PollKey) => Promise<PollRow | undefined>;

/** As long as a statement runs, polls that come wait for it and then share the next one. */
const mostPolls = 64;
/** A statement that takes longer than this (milliseconds) is not waited for: up to four run side by side. */
const patience = 20;
const mostStatements = 4;
/** Tenants with overrides wait for each other rather than for the connections that reports need. */
const mostOverriding = 2;
/** Nobody waits longer for his answer (milliseconds): it is the gateway's budget of a device. */
const longestWait = 5_000;

interface Waiting {
  key: PollKey;
  since: number;
  resolve(row: PollRow | undefined): void;
  reject(error: unknown): void;
}

const nothing: readonly unknown[] = [];
/** Without overrides: the same for all tenants. */
const usual: OverridingStatements = { statements: pollStatements(), values: () => nothing };

/**
 * The reader of all polls. Those of tenants whose polling time differs by query are gathered apart, for their statement is another one;
 * it lasts as long as its plan, which tenants with equal settings share.
 */
export function createPollReader(db: Queryable, now: () => number = () => performance.now()): PollReader {
  const readUsual = gatherPolls(db, usual, { now, most: mostStatements });
  const byPlan = new WeakMap<PollingPlan, ReadPoll>();

  function readerOf(plan: PollingPlan): ReadPoll {
    const overriding = overridingStatements(plan);
    const read = overriding === undefined ? readUsual : gatherPolls(db, overriding, { now, most: mostOverriding });
    byPlan.set(plan, read);
    return read;
  }

  return (key, plan) => {
    if (plan === undefined || plan.overrides.length === 0) return readUsual(key);
    return (byPlan.get(plan) ?? readerOf(plan))(key);
  };
}

interface Gathering {
  now(): number;
  /** Statements at a time. */
  most: number;
}

/**
 * Reads polls, alone while there is little to do and together under load. Most of what a poll costs is the way to the database
 * and back: sharing it halves the database's part (0.11 -> 0.05 ms at 3,500 polls a second), and a poll waits for one statement at most.
 */
function gatherPolls(db: Queryable, { statements, values }: OverridingStatements, { now, most }: Gathering): ReadPoll {
  let running = 0;
  let startedAt = 0;
  let soon = false;
  let waiting: Waiting[] = [];

  const readAlone = ({ tenantId, controllerId, address }: PollKey) =>
    runOne(db, statements.one, [tenantId, controllerId, address, ...values()]);

  async function readTogether(polls: readonly Waiting[]): Promise<void> {
    try {
      const rows = await run(db, statements.many, [
        polls.map((p) => p.key.tenantId),
        polls.map((p) => p.key.controllerId),
        polls.map((p) => p.key.address),
        ...values(),
      ]);
      const found = new Map(rows.map((row) => [row.place, row]));
      for (const [i, poll] of polls.entries()) {
        const row = found.get(i + 1);
        if (row?.stale === true) readAlone(poll.key).then(poll.resolve, poll.reject);
        else poll.resolve(row);
      }
    } catch (error) {
      for (const poll of polls) poll.reject(error);
    }
  }

  function next(): void {
    running -= 1;
    start();
  }

  function start(): void {
    soon = false;
    if (waiting.length === 0) return;
    const polls = waiting.slice(0, mostPolls);
    waiting = waiting.slice(mostPolls);
    running += 1;
    startedAt = now();
    const [first] = polls;
    const done = first !== undefined && polls.length === 1 ? readAlone(first.key).then(first.resolve, first.reject) : readTogether(polls);
    void done.then(next);
  }

  /** A database that answers nothing must not gather polls that their devices have long given up. */
  function giveUp(before: number): void {
    const late = waiting.findIndex(({ since }) => since > before);
    for (const { reject } of waiting.splice(0, late < 0 ? waiting.length : late)) reject(new HarrierError("unavailable"));
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const since = now();
      waiting.push({ key, since, resolve, reject });
      if (soon) return;
      if (running > 0) {
        if ((waiting[0] as Waiting).since < since - longestWait) giveUp(since - longestWait);
        if (running >= most || since - startedAt <= patience) return;
      }
      soon = true;
      setImmediate(start); // with the others that came in this turn
    });
}

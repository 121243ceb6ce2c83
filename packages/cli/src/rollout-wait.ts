import { ApiError } from "@harrier/client";
import type { RolloutView } from "@harrier/contracts";
import { ExitError, exit } from "./exit.ts";
import { look } from "./look.ts";
import { r } from "./routes.ts";
import type { Session } from "./session.ts";

const over = new Set(["stopping", "stopped", "deleting", "deleted", "approval_denied"]);
/** What a rollout goes through, as far as each state implies the ones before. */
const order = ["creating", "ready", "starting", "running", "finished"];

/** Says whether a wait is over: undefined while it is not, otherwise how it ends. */
export function outcomeOf(rollout: Pick<RolloutView, "id" | "status" | "statusReason">, wanted: string): ExitError | "reached" | undefined {
  const { id, status, statusReason } = rollout;
  if (order.includes(status) && order.indexOf(status) >= order.indexOf(wanted)) return "reached";
  if (status === wanted) return "reached";
  if (status === "stopping" && wanted === "stopped") return undefined;
  if (over.has(status)) return new ExitError(exit.stopped, `rollout ${id} is ${status}`);
  if (status === "waiting_for_approval") return new ExitError(exit.waiting, `rollout ${id} waits for approval`);
  if (status === "paused" && statusReason?.reason === "error_threshold") {
    return new ExitError(
      exit.stopped,
      `rollout ${id} was paused by its error threshold (${statusReason.value ?? "?"} % of group ${statusReason.groupId ?? "?"} failed, limit ${statusReason.limit ?? "?"} %)`,
    );
  }
  return undefined;
}

/** No state is older when it is seen, even where no event comes. */
const longestRestMs = 5_000;
/** A large rollout changes many times a second; nobody reads faster, and the server has better to do. */
const shortestRestMs = 200;

/**
 * Waits until a rollout is as wanted: it looks whenever the server tells of a change, five times a second at most, and every five seconds in any case,
 * also behind an outage of the server. Ends with exit 2 where the rollout will not get there by itself, and with 3 after `timeoutMs`.
 */
export async function waitForRollout(
  session: Session,
  rolloutId: number,
  { wanted, timeoutMs, seen }: { wanted: string; timeoutMs: number; seen?: (rollout: RolloutView) => Promise<void> },
): Promise<RolloutView> {
  const ended = new AbortController();
  const stop = () => ended.abort();
  session.signal.addEventListener("abort", stop, { once: true });
  const changes = followChanges(session, rolloutId, ended.signal);
  const until = Date.now() + timeoutMs;
  let last = "";
  try {
    for (;;) {
      const changed = changes.next();
      const soonest = rest(shortestRestMs, ended.signal);
      const rollout = await look(session, until, async (signal) => {
        const found = await session.read(r.rollouts.get, { params: { rolloutId }, signal });
        await seen?.(found);
        return found;
      });
      if (rollout === undefined && last !== "not to be seen") session.note(`rollout ${rolloutId} cannot be seen at the moment`);
      last = rollout?.status ?? "not to be seen";
      const outcome = rollout === undefined ? undefined : outcomeOf(rollout, wanted);
      if (rollout !== undefined && outcome === "reached") return rollout;
      if (outcome instanceof ExitError) throw outcome;
      const left = until - Date.now();
      if (left <= 0) throw new ExitError(exit.waiting, `rollout ${rolloutId} is still ${last}`);
      await Promise.race([changed, rest(Math.min(left, longestRestMs), ended.signal)]);
      await soonest;
      if (session.signal.aborted) throw session.signal.reason;
    }
  } finally {
    stop();
    session.signal.removeEventListener("abort", stop);
  }
}

/** What `next` answers resolves when the server says that something of the rollout has changed. A caller who may not read events has the period alone. */
function followChanges(session: Session, rolloutId: number, signal: AbortSignal) {
  let heard = () => {};
  let next = Promise.resolve();
  const arm = () => {
    next = new Promise((resolve) => {
      heard = resolve;
    });
  };
  arm();
  void (async () => {
    const client = await session.client();
    for await (const _event of client.events(r.events.stream, { query: { changes: true, rollout: rolloutId }, signal })) {
      heard();
      arm();
    }
  })().catch((error: unknown) => {
    if (!(error instanceof ApiError) && !signal.aborted) session.note(`events: ${String(error)}`);
  });
  return { next: () => next };
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

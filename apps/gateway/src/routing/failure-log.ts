import type { Log } from "@harrier/service";
import type { Replica } from "./upstreams.ts";

/** A replica that cannot be asked is told of this often. */
const everyMs = 10_000;

/**
 * Logs that a replica could not be asked: at once with its error, and then once in ten seconds, with the number of requests since. A fleet that polls a
 * service which is down would write a line with a stack for each poll.
 */
export function createFailureLog(log: Log, now: () => number): (replica: Replica, err: Error) => void {
  const told = new WeakMap<Replica, { at: number; further: number }>();
  return (replica, err) => {
    const last = told.get(replica);
    if (last !== undefined && now() - last.at < everyMs) {
      last.further += 1;
      return;
    }
    log.warn({ err, upstream: replica.url, further: last?.further ?? 0 }, "a service could not be asked");
    told.set(replica, { at: now(), further: 0 });
  };
}

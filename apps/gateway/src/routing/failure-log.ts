import type { Log } from "@harrier/service";
import type { Replica } from "./upstreams.ts";

/** A replica that cannot be asked is told of this often. */
const everyMs = 10_000;

/**
 * Logs that a replica could not be asked: at once with its error, and then the number of requests since, once in ten seconds. A fleet that polls a
 * service which is down would write a line with a stack for each poll.
 */
export function createFailureLog(log: Log): (replica: Replica, err: Error) => void {
  const further = new WeakMap<Replica, number>();
  return (replica, err) => {
    const count = further.get(replica);
    if (count !== undefined) return void further.set(replica, count + 1);
    further.set(replica, 0);
    const upstream = replica.url;
    log.warn({ err, upstream }, "a service could not be asked");
    const timer = setInterval(() => {
      const requests = further.get(replica) ?? 0;
      if (requests > 0) {
        log.warn({ upstream, requests }, "a service could not be asked again");
        further.set(replica, 0);
        return;
      }
      // The next failure is a line with its error again.
      further.delete(replica);
      clearInterval(timer);
    }, everyMs).unref();
  };
}

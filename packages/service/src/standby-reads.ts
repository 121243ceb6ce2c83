import { Counter, type Registry } from "prom-client";
import type { Log } from "./log.ts";

/** A standby that is behind again and again is logged this often, in milliseconds. */
const warnEveryMs = 60_000;

/** Counts where the requests that a standby may answer were read (`ReadFrom` of @harrier/db), and logs when that changes. */
export function observeStandbyReads(registry: Registry, log: Pick<Log, "info" | "warn">): (from: string) => void {
  const reads = new Counter({
    name: "harrier_standby_reads_total",
    help: "Requests that a standby may answer, by where they were read: on the standby, or on the primary because it was behind or away, or refused",
    labelNames: ["from"],
    registers: [registry],
  });
  let last: string | undefined;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (from) => {
    reads.inc({ from });
    // a statement that the standby refuses says nothing of the others
    if (from === "refused" || from === last) return;
    const told = last === undefined || performance.now() - warnedAt >= warnEveryMs;
    last = from;
    if (!told) return;
    if (from !== "standby") {
      warnedAt = performance.now();
      log.warn({ standby: from }, "lists are read on the primary");
    } else if (warnedAt > 0) log.info("lists are read on the standby again");
  };
}

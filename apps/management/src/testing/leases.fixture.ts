import { pause } from "@harrier/jobs";
import type { Changes } from "../events/changes.ts";

/** Lets a replica work under its leases, and notice changes as one does; answers how it stops. */
export function startReplica(changes: Pick<Changes, "read">, leases: { start(): void; stop(): Promise<void> }): () => Promise<void> {
  const reading = new AbortController();
  const done = (async () => {
    while (!reading.signal.aborted) {
      await changes.read();
      await pause(20, reading.signal);
    }
  })();
  leases.start();
  return async () => {
    reading.abort();
    await leases.stop();
    await done;
  };
}

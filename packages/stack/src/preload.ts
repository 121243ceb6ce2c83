// Loaded before a service's own code (node --import), only where the supervisor starts it. The other end of standard input is held by
// the supervisor: when that is gone, by whatever means, this process must not stay behind.
import { isMainThread } from "node:worker_threads";

const GRACE_MS = 8_000;

let ending = false;

function end(): void {
  if (ending) return;
  ending = true;
  process.kill(process.pid, "SIGTERM"); // the way every service is asked to end
  setTimeout(() => process.exit(1), GRACE_MS).unref();
}

// a thread of the service loads this as well, and its standard input ends at once
if (isMainThread) {
  process.stdin.on("end", end).on("error", end).resume();
  // and by itself it keeps no process alive
  (process.stdin as unknown as { unref?: () => void }).unref?.();
}

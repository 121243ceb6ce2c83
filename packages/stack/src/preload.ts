// Loaded before a service's own code (node --import), only if the supervisor starts it. The supervisor holds the other end of standard input: when
// that is gone, by whatever means, this process must not stay behind.
import { isMainThread } from "node:worker_threads";

const GRACE_MS = 8_000;

let ending = false;

function end(): void {
  if (ending) return;
  ending = true;
  process.kill(process.pid, "SIGTERM"); // every service is asked to end in this way
  setTimeout(() => process.exit(1), GRACE_MS).unref();
}

// a thread of the service loads this as well, and its standard input ends at once
if (isMainThread) {
  process.stdin.on("end", end).on("error", end).resume();
  // standard input alone must keep no process alive
  (process.stdin as unknown as { unref?: () => void }).unref?.();
}

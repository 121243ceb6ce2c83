// The attack runs in a process of its own, so that its work does not delay the processes that measure. It yields the processor to all others, as an
// attacker would have a machine of its own.
import { setPriority } from "node:os";
import { type Attack, noSpoils, type Spoils } from "./attack.ts";
import { lay } from "./siege.ts";
import { fire } from "./volley.ts";

/** No test attacks longer than this: nothing keeps running when the test has died silently. */
const maxMs = 120_000;
const lowest = 10;

process.once("message", (attack: Attack) => {
  const spoils: Spoils = noSpoils();
  const end = attack.kind === "volley" ? fire(attack, spoils) : lay(attack, spoils);
  process.once("message", () => {
    end();
    process.send?.(spoils, () => process.exit(0));
  });
});
process.once("disconnect", () => process.exit(0));
setTimeout(() => process.exit(1), maxMs).unref();
setPriority(lowest);

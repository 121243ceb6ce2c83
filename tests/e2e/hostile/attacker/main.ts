// A process of its own: what it computes must not delay those who measure. It gives way to everybody for the processor, as an attacker
// would have a machine of its own.
import { setPriority } from "node:os";
import { type Attack, noSpoils, type Spoils } from "./attack.ts";
import { lay } from "./siege.ts";
import { fire } from "./volley.ts";

/** Longer than any test attacks: nothing is left running when the test has died without a word. */
const longestMs = 120_000;
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
setTimeout(() => process.exit(1), longestMs).unref();
setPriority(lowest);

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Attack, Spoils } from "../attacker/attack.ts";

const program = fileURLToPath(new URL("../attacker/main.ts", import.meta.url));

/** Runs an attack in a process of its own; the returned function ends it and resolves to what the attacker saw. */
export function startAttacker(attack: Attack): () => Promise<Spoils> {
  const child = fork(program, { execArgv: [], stdio: "inherit" });
  child.send(attack);
  return async () => {
    const told = Promise.race([
      once(child, "message").then(([spoils]) => spoils as Spoils),
      once(child, "exit").then(([code]) => {
        throw new Error(`the attacker ended by itself (${code})`);
      }),
    ]);
    child.send("end");
    const spoils = await told;
    if (child.exitCode === null) await once(child, "exit");
    return spoils;
  };
}

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Polls are compared with this limit: express → http-proxy-middleware → express with keep-alive and an answer of the same size as an idle poll's,
 * with no work behind it. There are two processes, as for gateway and controller.
 */
export interface BareChain {
  url: string;
  pids: readonly number[];
  stop(): void;
}

export async function startBareChain(): Promise<BareChain> {
  const back = await start("back");
  const front = await start("front", back.port);
  return {
    url: `http://127.0.0.1:${front.port}`,
    pids: [back.child.pid as number, front.child.pid as number],
    stop() {
      front.child.kill();
      back.child.kill();
    },
  };
}

function start(role: "back" | "front", upstream?: number): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(new URL("./bare-chain.process.ts", import.meta.url)), [role, String(upstream ?? 0)]);
  return new Promise((resolve, reject) => {
    child.once("message", (port) => resolve({ child, port: port as number }));
    child.once("exit", (code) => reject(new Error(`bare ${role} ended (${code})`)));
  });
}

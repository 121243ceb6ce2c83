import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Transfers are compared with this limit: one process that copies a body into a new file with `pipeline()`, and the file into an answer. */
export interface BareCopy {
  readonly url: string;
  stop(): void;
}

export async function startBareCopy(): Promise<BareCopy> {
  const dir = mkdtempSync(join(tmpdir(), "harrier-bare-copy-"));
  const child = fork(fileURLToPath(new URL("./bare-copy.process.ts", import.meta.url)), [join(dir, "file")]);
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve(message as number));
    child.once("exit", (code) => reject(new Error(`the bare copy ended (${code})`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      child.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

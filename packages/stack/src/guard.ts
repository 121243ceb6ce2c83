import { type ChildProcess, spawn } from "node:child_process";

// it waits for the end of its standard input, which comes when the process that holds the other end is gone, even by SIGKILL
const script = 'cat >/dev/null; kill -"$2" "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.1; done; [ -z "$3" ] || rm -rf "$3"';

export interface GuardOptions {
  pid: number;
  /** INT, TERM or KILL, whichever ends the guarded process in order. */
  signal: "INT" | "TERM" | "KILL";
  /** The folder of something temporary, which is removed after its end. */
  removeDir?: string;
}

/**
 * Starts a small shell that ends another process when this one is gone, for programs that do not watch their parent. Kill it (SIGKILL) when the
 * guarded process has ended, before another process can get its id.
 */
export function guardProcess({ pid, signal, removeDir }: GuardOptions): ChildProcess {
  const child = spawn("/bin/sh", ["-c", script, "sh", String(pid), signal, removeDir ?? ""], {
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  (child.stdin as unknown as { unref(): void } | null)?.unref();
  return child;
}

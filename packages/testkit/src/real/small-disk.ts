import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A separate file system that is soon full. */
export interface SmallDisk {
  readonly dir: string;
  remove(): Promise<void>;
}

const limitMs = 10_000;

/** Mounts one in memory (tmpfs). If we may not mount, a process in its own user namespace does, and its files are reached through /proc. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  const dir = mkdtempSync(join(tmpdir(), "harrier-disk-"));
  const mount = ["-t", "tmpfs", "-o", `size=${bytes},mode=0777`, "tmpfs", dir];
  const mounted = spawnSync("mount", mount, { encoding: "utf8" });
  if (mounted.status === 0) {
    return {
      dir,
      async remove() {
        // a process that has just ended may still hold the folder
        for (const end = Date.now() + limitMs; spawnSync("umount", [dir]).status !== 0 && Date.now() < end; ) await pause(200);
        rmSync(dir, { recursive: true, force: true });
      },
    };
  }
  const holder = spawn(
    "unshare",
    ["--user", "--map-root-user", "--mount", "sh", "-c", `mount ${mount.join(" ")} && echo mounted && read end`],
    {
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  await said(holder, "mounted");
  const inside = `/proc/${holder.pid}/root${dir}`;
  if (!existsSync(inside)) throw new Error(`no small disk: mount says ${mounted.stderr}, and ${inside} cannot be reached`);
  return {
    dir: inside,
    async remove() {
      holder.stdin?.end();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function said(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let words = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data: Buffer) => {
        words += data.toString();
        if (words.includes(word)) resolve();
      });
    }
    child
      .once("error", reject)
      .once("exit", (code) => reject(new Error(`no small disk: neither root nor user namespaces (${code}: ${words})`)));
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

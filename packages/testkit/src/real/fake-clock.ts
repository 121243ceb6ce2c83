import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianPackages } from "./debian.ts";

/** A wall clock of processes that can be moved while they run. Their monotonic clock, and so their timers, are not affected. */
export interface FakeClock {
  /** The processes with this clock need this environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock so many seconds ahead of the machine's (behind, below 0); the processes notice within a second. */
  set(seconds: number): void;
  remove(): void;
}

/** Starts a clock with Debian's libfaketime, unpacked beside the other tools of tests. At first it shows the right time. */
export async function startFakeClock(): Promise<FakeClock> {
  const { root } = await debianPackages(["libfaketime"]);
  const library = readdirSync(root, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith("libfaketimeMT.so.1"));
  if (library === undefined) throw new Error("Debian's libfaketime holds no libfaketimeMT.so.1");
  const dir = mkdtempSync(join(tmpdir(), "harrier-clock-"));
  const file = join(dir, "offset");
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  set(0);
  return {
    env: {
      LD_PRELOAD: join(root, library),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

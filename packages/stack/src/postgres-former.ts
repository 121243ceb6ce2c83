import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processesIn, signal, waitForEnd } from "./processes.ts";

/**
 * Ends what a killed start left behind on this cluster. Call it only while holding the data directory's lock, because then no other server can be
 * there. PostgreSQL refuses to start while the process named in postmaster.pid exists, and after a reboot that may be any other process.
 */
export async function endFormerServer(dir: string): Promise<void> {
  const pidFile = join(dir, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const postmaster = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  const place = realpathSync(dir);
  const working = () => processesIn(place, [postmaster]);
  if (working().includes(postmaster)) {
    signal(postmaster, "SIGINT");
    if (!(await waitForEnd([postmaster], 10_000))) signal(postmaster, "SIGQUIT");
    await waitForEnd([postmaster], 5_000);
  }
  // backends whose postmaster was killed end soon by themselves, but the next server would refuse to start beside them
  const orphans = working();
  if (!(await waitForEnd(orphans, 5_000))) for (const pid of orphans) signal(pid, "SIGKILL");
  if (!(await waitForEnd(orphans, 5_000))) throw new Error(`a former PostgreSQL still works in ${dir} (process ${orphans.join(", ")})`);
  // the id may belong to an unrelated process now, or still to a zombie, and PostgreSQL would not start
  rmSync(pidFile, { force: true });
}

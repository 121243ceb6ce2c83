import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isAlive, signal, startOf, waitForEnd } from "./processes.ts";
import { StartError } from "./start-error.ts";

interface ProcessId {
  pid: number;
  start: string | undefined;
}

interface Run extends ProcessId {
  children: ProcessId[];
}

/** This stands for a file that names no process. */
const nobody: Run = { pid: 0, start: undefined, children: [] };
/** A file that cannot be read may just be being written. */
const HALF_WRITTEN_MS = 1_000;

const identify = (pid: number): ProcessId => ({ pid, start: startOf(pid) });
const isRunning = ({ pid, start }: ProcessId): boolean => pid > 0 && isAlive(pid) && startOf(pid) === start;

/** The file that names the process in a data directory, by its id and start time, and its children. */
export class RunFile {
  readonly #path: string;
  readonly #dir: string;

  constructor(path: string, dir: string) {
    this.#path = path;
    this.#dir = dir;
  }

  /** Refuses if a process runs there. Ends what a killed start left running; changes no file. */
  async vacate(): Promise<void> {
    const former = await this.#read();
    if (former === undefined) return;
    if (isRunning(former)) throw new StartError(`HARRIER_DATA_DIR: ${this.#dir} is in use by process ${former.pid}`);
    await endOrphans(former);
  }

  /**
   * Takes the folder for this process alone. Only one process can create the file. The file of a killed process is removed only by the holder of a
   * second file beside it, so that nobody removes one that was created meanwhile.
   */
  async take(): Promise<void> {
    while (!this.#make()) {
      await this.vacate();
      const removal = new RunFile(`${this.#path}.removal`, this.#dir);
      await removal.take();
      try {
        const former = await this.#read();
        if (former !== undefined && !isRunning(former)) this.release();
      } finally {
        removal.release();
      }
    }
  }

  /**
   * Records the children so that the next start can end them. A full disk must not end this process, and the children also end by themselves (see
   * preload.ts).
   */
  recordChildren(pids: readonly number[]): void {
    try {
      const run: Run = { ...identify(process.pid), children: pids.map(identify) };
      writeFileSync(`${this.#path}.new`, JSON.stringify(run), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // the previous record stays
    }
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }

  /** Creates the file; false if there is one. */
  #make(): boolean {
    try {
      writeFileSync(this.#path, JSON.stringify({ ...identify(process.pid), children: [] } satisfies Run), { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  }

  /** Reads the file; undefined if there is none. */
  async #read(): Promise<Run | undefined> {
    for (const limit = Date.now() + HALF_WRITTEN_MS; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      try {
        const run = JSON.parse(readFileSync(this.#path, "utf8")) as Partial<Run> | null;
        return Array.isArray(run?.children) ? (run as Run) : nobody;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        if (!(error instanceof SyntaxError)) throw error;
        if (Date.now() > limit) return nobody;
      }
    }
  }
}

/** Ends processes without a supervisor that did not end by themselves (see preload.ts). */
async function endOrphans(former: Run): Promise<void> {
  const orphans = former.children.filter(isRunning).map(({ pid }) => pid);
  for (const [helped, limitMs] of [
    [undefined, 2_000],
    ["SIGTERM", 6_000],
    ["SIGKILL", 2_000],
  ] as const) {
    if (helped !== undefined) for (const pid of orphans) signal(pid, helped);
    if (await waitForEnd(orphans, limitMs)) return;
  }
}

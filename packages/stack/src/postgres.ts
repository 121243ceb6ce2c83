import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { guardProcess } from "./guard.ts";
import { freePort } from "./ports.ts";
import { postgresHome, serverEnv, serverIds } from "./postgres-binaries.ts";
import { endFormerServer } from "./postgres-former.ts";
import { createRotatingLog } from "./rotating-log.ts";

export interface EmbeddedPostgres {
  /** The superuser's URL for the database `postgres`. */
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Resolves when the server has ended, wanted or not. */
  readonly ended: Promise<void>;
  /** Ends all sessions and the server; after `limitMs` without the final checkpoint, for which the next start recovers. */
  stop(limitMs?: number): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** It is kept between starts, and durable. Without it the cluster is in the temp dir, writes without fsync and is removed at the stop. */
  dataDir?: string;
  /** The superuser's password, set when the cluster is created. Without it anyone on 127.0.0.1 may connect, as in tests. */
  password?: string;
  logFile?: string;
  /** A free port is the default. */
  port?: number;
}

const SUPERUSER = "harrier";
const STOP_LIMIT_MS = 5_000;

const settings = {
  both: { listen_addresses: "127.0.0.1", unix_socket_directories: "", jit: "off", timezone: "UTC", log_timezone: "UTC" },
  // with half of it the polls beside the start of a rollout take twice as long, because each connection writes out pages to make room
  durable: { shared_buffers: "256MB", max_wal_size: "2GB", checkpoint_timeout: "15min", max_connections: "300", log_checkpoints: "off" },
  throwaway: {
    shared_buffers: "128MB",
    max_wal_size: "1GB",
    max_connections: "300",
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
  },
};

/** Starts a real PostgreSQL on a free port of 127.0.0.1. It ends with this process, however this process ends. */
export async function startPostgres(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const home = await postgresHome();
  const dir = resolve(options.dataDir ?? mkdtempSync(join(tmpdir(), "harrier-pg-")));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (serverIds.uid !== undefined) chownSync(dir, serverIds.uid, serverIds.uid);
  await endFormerServer(dir);
  if (!existsSync(join(dir, "PG_VERSION"))) createCluster(home, dir, options);
  const config = { ...settings.both, ...(options.dataDir === undefined ? settings.throwaway : settings.durable) };
  const flags = Object.entries(config).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    try {
      const child = await launch(join(home, "bin", "postgres"), dir, ["-p", String(port), ...flags], options.logFile);
      return attach(child, dir, port, options);
    } catch (error) {
      // another process took that port first
      if (attempt === 3 || options.port !== undefined || !/Address already in use|could not bind/.test((error as Error).message))
        throw error;
    }
  }
}

/**
 * Lets the server open its data directory although it runs as nobody under root and may not enter a 0700 home. It gets the open directory as
 * descriptor 3, and /proc/self/fd/3 leads every process of the server straight to it.
 */
function handOverDir<T>(dir: string, use: (path: string, descriptors: number[]) => T): T {
  if (serverIds.uid === undefined || process.platform !== "linux") return use(dir, []);
  const descriptor = openSync(dir, "r");
  try {
    return use("/proc/self/fd/3", [descriptor]);
  } finally {
    closeSync(descriptor);
  }
}

function createCluster(home: string, dir: string, options: EmbeddedPostgresOptions): void {
  const args = ["-U", SUPERUSER, "-E", "UTF8", "--locale=C.UTF-8", ...(options.dataDir === undefined ? ["--no-sync"] : [])];
  const secrets = mkdtempSync(join(tmpdir(), "harrier-initdb-"));
  try {
    if (options.password === undefined) {
      args.push("--auth=trust");
    } else {
      const file = join(secrets, "password");
      writeFileSync(file, options.password, { mode: 0o600 });
      if (serverIds.uid !== undefined) for (const path of [secrets, file]) chownSync(path, serverIds.uid, serverIds.uid);
      args.push("--auth=scram-sha-256", `--pwfile=${file}`);
    }
    const made = handOverDir(dir, (path, descriptors) =>
      spawnSync(join(home, "bin", "initdb"), ["-D", path, ...args], {
        ...serverIds,
        env: serverEnv,
        cwd: "/",
        encoding: "utf8",
        stdio: ["ignore", "ignore", "pipe", ...descriptors],
      }),
    );
    // initdb empties the directory when it fails, so that the next start can try again
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr || made.error?.message}`);
  } finally {
    rmSync(secrets, { recursive: true, force: true });
  }
}

/** Resolves when the server accepts connections; rejects with its last output if it ends before that. */
function launch(binary: string, dir: string, args: string[], logFile: string | undefined): Promise<ChildProcess> {
  const child = handOverDir(dir, (path, descriptors) =>
    spawn(binary, ["-D", path, ...args], {
      ...serverIds,
      env: serverEnv,
      cwd: "/",
      // it has its own session, because Ctrl-C in a terminal must not end the database before its clients
      detached: true,
      stdio: ["ignore", "ignore", "pipe", ...descriptors],
    }),
  );
  if (logFile !== undefined) {
    child.stderr?.pipe(createRotatingLog(logFile));
  }
  return new Promise((resolve, reject) => {
    let words = "";
    const onData = (data: Buffer) => {
      words = (words + data.toString()).slice(-4000);
      if (!/ready to accept (read-only )?connections/.test(words)) return;
      child.stderr?.off("data", onData);
      child.stderr?.resume(); // its pipe must not fill up
      resolve(child);
    };
    child.stderr?.on("data", onData);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`PostgreSQL ended (${signal ?? code}): ${words.trim()}`)));
  });
}

function attach(child: ChildProcess, dir: string, port: number, options: EmbeddedPostgresOptions): EmbeddedPostgres {
  const pid = child.pid ?? 0;
  const throwawayDir = options.dataDir === undefined ? dir : undefined;
  const guardian = guardProcess({ pid, signal: "INT", ...(throwawayDir === undefined ? {} : { removeDir: throwawayDir }) });
  let over = false;
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      over = true;
      guardian.kill("SIGKILL"); // it ends before another process can get the pid
      resolve();
    });
  });
  const login = options.password === undefined ? SUPERUSER : `${SUPERUSER}:${encodeURIComponent(options.password)}`;
  return {
    url: `postgres://${login}@127.0.0.1:${port}/postgres`,
    pid,
    dataDir: dir,
    ended,
    async stop(limitMs = STOP_LIMIT_MS) {
      if (!over) child.kill("SIGINT"); // this is a "fast" shutdown
      const limit = setTimeout(() => child.kill("SIGQUIT"), limitMs); // this is an "immediate" shutdown
      await ended;
      clearTimeout(limit);
      if (throwawayDir !== undefined) rmSync(throwawayDir, { recursive: true, force: true });
    },
  };
}

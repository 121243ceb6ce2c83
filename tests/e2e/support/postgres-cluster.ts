import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@harrier/stack";
import { debianPackages } from "@harrier/testkit";

/** A PostgreSQL of the system's packages, with the programs that an operator has beside it. */
export interface Cluster {
  readonly url: string;
  /** Runs pg_dump, pg_dumpall, pg_restore or psql; answers what it printed. */
  run(program: string, ...words: readonly string[]): string;
  /** Takes a physical backup; answers its folder, for `startCluster`, which then owns it. */
  backUp(): string;
  stop(): void;
}

// PostgreSQL refuses to run as root
const ids = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Answers the newest folder of PostgreSQL's programs, of this machine or of the system's packages in the cache folder. */
export async function postgresPrograms(): Promise<string> {
  const found = programsIn("/");
  if (found !== undefined) return found;
  const { root } = await debianPackages(["postgresql"]);
  const unpacked = programsIn(root);
  if (unpacked === undefined) throw new Error("the package postgresql has no pg_dump beside initdb");
  return unpacked;
}

function programsIn(root: string): string | undefined {
  const versions = join(root, "usr", "lib", "postgresql");
  const folders = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, "bin")) : [];
  return folders.toSorted().findLast((folder) => ["initdb", "pg_dump"].every((name) => existsSync(join(folder, name))));
}

function makeFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "harrier-cluster-"));
  if (ids.uid !== undefined) chownSync(dir, ids.uid, ids.uid);
  return dir;
}

/** Starts a new, empty cluster with a database `harrier`, or what a physical backup holds. */
export async function startCluster(programs: string, backup?: string): Promise<Cluster> {
  const dir = backup ?? makeFolder();
  const data = join(dir, "data");
  const port = await freePort();
  const env = {
    PATH: `${programs}:${process.env["PATH"] ?? ""}`,
    LC_ALL: "C",
    TZ: "UTC",
    PGHOST: "127.0.0.1",
    PGPORT: String(port),
    PGUSER: "postgres",
  };
  const run = (program: string, ...words: readonly string[]): string =>
    execFileSync(join(programs, program), [...words], {
      ...ids,
      cwd: dir,
      env,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      stdio: ["ignore", "pipe", "pipe"],
    });
  if (backup === undefined) run("initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync");
  const settings = [
    `port=${port}`,
    "listen_addresses='127.0.0.1'",
    `unix_socket_directories='${dir}'`,
    "fsync=off",
    "max_connections=200",
    "",
  ];
  writeFileSync(join(data, "postgresql.auto.conf"), settings.join("\n"));
  // without a log file the server would keep the output of pg_ctl, and this process would wait for its end
  run("pg_ctl", "-D", data, "-l", join(dir, "log"), "-w", "start");
  if (backup === undefined) run("createdb", "harrier");
  return {
    url: `postgres://postgres@127.0.0.1:${port}/harrier`,
    run,
    backUp() {
      const folder = makeFolder();
      run("pg_basebackup", "-D", join(folder, "data"), "--checkpoint=fast", "--wal-method=stream", "--no-sync");
      return folder;
    },
    stop() {
      run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

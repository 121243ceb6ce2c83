import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type EmbeddedPostgres, startPostgres } from "@harrier/stack";
import { withClient } from "@harrier/testkit";

/** What is in these folders, and these files, belong to the running primary alone. */
const emptied = ["pg_wal", "pg_replslot", "pg_stat_tmp"];
const left: ReadonlySet<string> = new Set([...emptied, "postmaster.pid", "postmaster.opts"]);

/** A hot standby that streams from a primary of the same binaries. */
export class HotStandby {
  readonly #primary: EmbeddedPostgres;
  readonly #port: number;
  readonly #dir = mkdtempSync(join(tmpdir(), "harrier-standby-"));
  #server: EmbeddedPostgres | undefined;

  constructor(primary: EmbeddedPostgres, port: number) {
    this.#primary = primary;
    this.#port = port;
  }

  /** Copies the primary as it runs, for the first start. */
  async copy(): Promise<void> {
    const { url, dataDir } = this.#primary;
    await withClient(url, async (client) => {
      await client.query("select pg_backup_start('standby', true)");
      cpSync(dataDir, this.#dir, {
        recursive: true,
        preserveTimestamps: true,
        filter: (path) => dirname(path) !== dataDir || !left.has(basename(path)),
      });
      const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
      writeFileSync(join(this.#dir, "backup_label"), rows[0]?.labelfile ?? "");
    });
    const { port, username } = new URL(url);
    writeFileSync(join(this.#dir, "postgresql.auto.conf"), `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username}'\n`);
    writeFileSync(join(this.#dir, "standby.signal"), "");
    for (const name of emptied) mkdirSync(join(this.#dir, name), { mode: 0o700 });
    execFileSync("chown", ["-R", "--reference", dataDir, this.#dir]);
  }

  async start(): Promise<void> {
    this.#server = await startPostgres({ dataDir: this.#dir, port: this.#port });
  }

  /** Executes a statement as its superuser. */
  async run<Row extends object>(sql: string): Promise<Row[]> {
    if (this.#server === undefined) throw new Error("the standby does not run");
    return withClient(this.#server.url, async (client) => (await client.query<Row>(sql)).rows);
  }

  async kill(): Promise<void> {
    if (this.#server === undefined) return;
    process.kill(this.#server.pid, "SIGKILL");
    await this.#server.ended;
    this.#server = undefined;
  }

  async remove(): Promise<void> {
    await this.#server?.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The server as a user starts it. */
export interface NpmStart {
  readonly baseUrl: string;
  readonly adminPassword: string;
  /** The superuser's URL of the database. */
  readonly databaseUrl: string;
  /** The process that the user has started: everything else descends from it. */
  readonly pid: number;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const adminPassword = "footprint-of-an-administrator";

/** Runs `npm start` with a data directory of its own; rejects with what it said if it ends before it is ready. */
export async function startByNpm(dataDir: string): Promise<NpmStart> {
  const port = await freePort();
  const child = spawn("npm", ["start"], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      HARRIER_DATA_DIR: dataDir,
      HARRIER_HTTP_PORT: String(port),
      HARRIER_ADMIN_PASSWORD: adminPassword,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      said = (said + data.toString()).slice(-4_000);
      if (said.includes("Harrier is ready")) resolve();
    });
    child.once("exit", () => reject(new Error(`npm start has ended: ${said}`)));
  });
  const [, , , databasePort] = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n");
  const { databasePassword } = JSON.parse(readFileSync(join(dataDir, "secrets.json"), "utf8")) as { databasePassword: string };
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    adminPassword,
    databaseUrl: `postgres://harrier:${encodeURIComponent(databasePassword)}@127.0.0.1:${databasePort}/harrier`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

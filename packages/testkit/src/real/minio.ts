import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@harrier/stack";
import { cached, install } from "./cache.ts";
import { startServer } from "./server-process.ts";

const VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c";

export interface Minio {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The directory of the objects, to read them without the interface. */
  readonly dataDir: string;
  /** Kills it (SIGKILL); its objects stay. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same objects. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Answers the path of MinIO's server; it is built from source once (some five minutes) and kept in the cache. It needs Go. */
export function installMinio(): Promise<string> {
  return cached(join("bin", "minio"), async (dir) => {
    // only two compile at a time, because the link step is large
    await install("go", ["install", `github.com/minio/minio@${VERSION}`], { env: { ...process.env, GOBIN: dir, GOFLAGS: "-p=2" } });
    return join(dir, "minio");
  });
}

/** Starts a real S3 server with an empty store. */
export async function startMinio(): Promise<Minio> {
  const command = await installMinio();
  const root = mkdtempSync(join(tmpdir(), "harrier-minio-"));
  const dataDir = join(root, "data");
  mkdirSync(dataDir);
  const [port = 0, consolePort = 0] = await freePorts(2);
  const endpoint = `http://127.0.0.1:${port}`;
  const accessKey = "harrier-test";
  const secretKey = "harrier-test-secret";
  const start = () =>
    startServer({
      name: "MinIO",
      command,
      args: ["server", "--quiet", "--address", `127.0.0.1:${port}`, "--console-address", `127.0.0.1:${consolePort}`, dataDir],
      cwd: root,
      env: { MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey, MINIO_BROWSER: "off" },
      // The health routes answer before the store is open; a request without a credential is refused (403) only then.
      isReady: () =>
        fetch(endpoint).then(
          (answer) => answer.status === 403,
          () => false,
        ),
      limitMs: 60_000,
    });
  let server = await start();
  return {
    endpoint,
    accessKey,
    secretKey,
    dataDir,
    kill: () => server.stop("SIGKILL"),
    async restart() {
      await server.stop();
      server = await start();
    },
    async stop() {
      await server.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

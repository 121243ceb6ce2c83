import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { guardProcess } from "@harrier/stack";
import { workspaceRoot } from "../workspace.ts";
import { cached, install } from "./cache.ts";

const recipe = join(workspaceRoot, "packages", "testkit", "recipes", "hawkbit-dmf");
const files = ["pom.xml", "DmfClient.java"];

/** What the client says of a message that it has read. */
export interface HawkbitDmfLine {
  readonly type: string;
  readonly thingId: string | null;
  readonly tenant: string;
  readonly topic?: string;
  readonly actionId?: number;
  readonly files?: number;
  /** The topics and weights of a message with several actions, in its order. */
  readonly actions?: readonly string[];
  readonly correlationId?: string;
  readonly time?: number;
  /** What its library could not read. */
  readonly error?: string;
}

export interface HawkbitDmf {
  readonly lines: readonly HawkbitDmfLine[];
  /** What it wrote to its log, the last part. */
  log(): string;
  /** Has it say that a thing is removed. */
  remove(thingId: string): void;
  stop(): Promise<void>;
}

export interface HawkbitDmfOptions {
  /** The address of the tenant's virtual host, with its user. */
  readonly url: string;
  readonly tenant: string;
  /** The reply exchange, which it declares. */
  readonly exchange: string;
  /** Things whose id contains `stays` do not finish what they install; those with `named` register with a name. */
  readonly ids: readonly string[];
}

/** Answers the folder with the jars and the compiled client; Maven downloads them once (12 MB), and they are kept in the cache. It needs Java 17 and Maven. */
function installHawkbitDmf(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(recipe, file)));
  return cached(`hawkbit-dmf-${hash.digest("hex").slice(0, 12)}`, async (dir) => {
    // Maven writes beside the pom, which must not be the checkout
    for (const file of files) copyFileSync(join(recipe, file), join(dir, file));
    const jars = join(dir, "jars");
    await install("mvn", ["-q", "-B", "-f", join(dir, "pom.xml"), "dependency:copy-dependencies", `-DoutputDirectory=${jars}`]);
    const compiler = ["-cp", join(jars, "*"), "org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn"];
    // the compiler takes no `*` in its class path
    const classPath = readdirSync(jars).map((name) => join(jars, name));
    await install("java", [...compiler, "-cp", classPath.join(":"), "-d", jars, join(dir, "DmfClient.java")]);
    return jars;
  });
}

/** Starts things that speak by hawkBit's own library for DMF: they register, install what they are told, and say what they have read. */
export async function startHawkbitDmf({ url, tenant, exchange, ids }: HawkbitDmfOptions): Promise<HawkbitDmf> {
  const jars = await installHawkbitDmf();
  const java = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", `${jars}:${join(jars, "*")}`, "DmfClient"];
  const child = spawn("java", [...java, url, tenant, exchange, ...ids], { stdio: ["pipe", "pipe", "pipe"], detached: true });
  const ended = once(child, "close");
  const guardian = guardProcess({ pid: child.pid ?? 0, signal: "KILL" });
  const lines: HawkbitDmfLine[] = [];
  let log = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("{")) lines.push(JSON.parse(line) as HawkbitDmfLine);
    else log = (log + line).slice(-8_000);
  });
  child.stderr.on("data", (data: Buffer) => {
    log = (log + data.toString()).slice(-8_000);
  });
  return {
    lines,
    log: () => log,
    remove: (thingId) => void child.stdin.write(`${thingId}\n`),
    async stop() {
      child.stdin.end();
      const limit = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(limit);
      guardian.kill("SIGKILL");
    },
  };
}

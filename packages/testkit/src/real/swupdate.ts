import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DebianFiles, debianPackages } from "./debian.ts";
import { startServerIn } from "./server-process.ts";

export interface SwupdateOptions {
  baseUrl: string;
  tenant?: string;
  controllerId: string;
  targetToken: string;
  /** An image must be signed with this certificate, because Debian's build requires a signature. */
  certificate: string;
  /** An image must be made for this hardware, as `board:revision`. */
  hardware: string;
  /** The outcome of the update before this start, which it reports at once (its `-c`). */
  outcome?: "success" | "failed";
  /** The device attributes that it reports. */
  identify?: Readonly<Record<string, string>>;
  /** The limit of a download per second, as in `50k`. */
  speed?: string;
}

export interface Swupdate {
  /** Answers the last output. */
  output(): string;
  /** What its threads wait for in the kernel, and what its connections to servers have not read and not sent: for a failure that its output does not explain. */
  waitsFor(): string;
  /** Ends it like a device that is switched off. */
  stop(): Promise<void>;
}

const outcomes = { success: 2, failed: 3 } as const;

/**
 * Unpacks SWUpdate, as Debian builds it, with the openssl that signs its images; it is downloaded once (under 3 MB) and kept in the cache. It needs
 * Debian.
 */
export function installSwupdate(): Promise<DebianFiles> {
  const hasOpenssl = spawnSync("openssl", ["version"]).error === undefined;
  return debianPackages(["swupdate", ...(hasOpenssl ? [] : ["openssl"])]);
}

/** Starts a device: SWUpdate with its hawkBit client (suricatta), which polls from its first second on. */
export async function startSwupdate(options: SwupdateOptions): Promise<Swupdate> {
  const { root, env } = await installSwupdate();
  const { baseUrl, tenant = "DEFAULT", controllerId, targetToken, certificate, hardware, outcome, speed } = options;
  const swupdate = join(root, "usr", "bin", "swupdate");
  const dir = mkdtempSync(join(tmpdir(), "harrier-swupdate-"));
  const suricatta = ["-t", tenant, "-u", baseUrl, "-i", controllerId, "-k", targetToken];
  if (outcome !== undefined) suricatta.push("-c", String(outcomes[outcome]));
  if (speed !== undefined) suricatta.push("-n", speed);
  const config = join(dir, "swupdate.cfg");
  writeFileSync(config, configOf(options.identify ?? {}));
  const server = await startServerIn(dir, {
    name: "SWUpdate",
    // without SIGPIPE, as systemd starts services: it writes to a reader that a cancelled download has just lost, which would end it
    command: "sh",
    args: ["-c", "trap '' PIPE; exec \"$@\"", "sh", swupdate, "-f", config, "-k", certificate, "-H", hardware, "-u", suricatta.join(" ")],
    // it unpacks and opens its sockets there
    env: { ...env, TMPDIR: dir },
    isReady: async () => existsSync(join(dir, "sockinstctrl")),
    limitMs: 20_000,
  });
  return { ...server, waitsFor: () => [server.pid, ...childrenOf(server.pid)].map(waitsOf).join("\n") };
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};
const listed = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
const childrenOf = (pid: number): number[] => read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);

function waitsOf(pid: number): string {
  const threads = listed(`/proc/${pid}/task`).map((thread) => read(`/proc/${pid}/task/${thread}/wchan`) || "gone");
  const sockets = new Set(
    listed(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const lines = read("/proc/net/tcp").split("\n").slice(1);
  const queues = lines.flatMap((line) => {
    const [, , remote, , queue, , , , , inode = ""] = line.trim().split(/\s+/);
    return sockets.has(inode) ? [`${remote} ${queue}`] : [];
  });
  return `${pid}: ${threads.join(" ")}; ${queues.join(" ")}`;
}

/**
 * Makes the configuration without traces in the log: SWUpdate 2022.12 sends its log to the server in parts of 48 lines, which traces alone fill,
 * and misses the end of an installation that comes while a part is being sent.
 */
function configOf(identify: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(identify).map(([name, value]) => `{ name = "${name}"; value = "${value}"; }`);
  return `globals : { loglevel = 3; };\n${pairs.length === 0 ? "" : `identify : ( ${pairs.join(", ")} );\n`}`;
}

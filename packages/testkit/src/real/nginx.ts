import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DebianFiles, debianPackages } from "./debian.ts";
import { startServerIn } from "./server-process.ts";

/** A request that reached nginx, as its log shows it. */
export interface ProxiedRequest {
  port: number;
  method: string;
  /** The request target with its query, unchanged. */
  uri: string;
  status: number;
  /** The header `Range`; empty without one. */
  range: string;
  /** Whether it had the header `Authorization`. */
  signedIn: boolean;
}

export interface Nginx {
  /** Answers all requests that have been answered, oldest first. */
  requests(): ProxiedRequest[];
  stop(): Promise<void>;
}

export interface NginxOptions {
  /** The content of the `http` block: servers that listen on 127.0.0.1. */
  http: string;
  /** One of the ports that they listen on. */
  port: number;
}

/** Unpacks nginx, as Debian builds it, into the cache: no service is installed or started. It needs Debian. */
export function installNginx(): Promise<DebianFiles> {
  return debianPackages(["nginx"]);
}

/** Starts a proxy with this configuration; all its files are in a separate folder, which `stop` removes. */
export async function startNginx({ http, port }: NginxOptions): Promise<Nginx> {
  const { root, env } = await installNginx();
  const dir = mkdtempSync(join(tmpdir(), "harrier-nginx-"));
  const config = join(dir, "nginx.conf");
  writeFileSync(config, configOf(dir, http));
  const { stop } = await startServerIn(dir, {
    name: "nginx",
    command: join(root, "usr", "sbin", "nginx"),
    args: ["-p", dir, "-e", "stderr", "-c", config],
    env,
    isReady: () => accepts(port),
    limitMs: 20_000,
  });
  return { requests: () => requestsIn(join(dir, "access.log")), stop };
}

// it is one process, so that it ends with the signal that ends us, and it uses no path of the machine's own nginx
const configOf = (dir: string, http: string): string => `
daemon off;
master_process off;
pid ${dir}/nginx.pid;
error_log stderr warn;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 1024; }
http {
  map $http_authorization $signed_in { default true; "" false; }
  log_format requests escape=json '{"port":$server_port,"method":"$request_method","uri":"$request_uri","status":$status,'
    '"range":"$http_range","signedIn":$signed_in}';
  access_log ${dir}/access.log requests;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `  ${kind}_temp_path ${dir}/${kind};`).join("\n")}
${http}
}
`;

function requestsIn(path: string): ProxiedRequest[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  // the last line may not be written completely yet
  return lines.slice(0, -1).map((line) => JSON.parse(line) as ProxiedRequest);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@harrier/stack";
import { cached, install } from "./cache.ts";
import { goModule, kubernetesVersion, type Manifest } from "./kubernetes-tools.ts";
import { startServer } from "./server-process.ts";

/** Kubernetes' API server with etcd: it stores and checks objects, and runs no pods. */
export interface ApiServer {
  /** The path of a kubeconfig with all rights. */
  readonly kubeconfig: string;
  /** Sends a request to the API; answers the status and the body. */
  ask(method: string, path: string, body?: object, type?: string): Promise<{ status: number; body: Manifest }>;
  stop(): Promise<void>;
}

const apiServerProgram = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
`;
const etcdProgram = `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`;

/** Answers the folder with `apiserver` and `etcd`; they are built from source once, in ten minutes and 3 GB. It needs Go. */
function installApiServer(): Promise<string> {
  return cached(join("kubernetes", `server-${kubernetesVersion}`), async (dir) => {
    const kubernetes = await goModule(`k8s.io/kubernetes@v${kubernetesVersion}`);
    // its own modules have versions only beside it: 1.34.1 is made of v0.34.1
    const own = [...readFileSync(join(kubernetes, "go.mod"), "utf8").matchAll(/^\t(k8s\.io\/[a-z-]+) => \.\/staging/gm)];
    const version = `v0${kubernetesVersion.slice(1)}`;
    const replaced = own.map(([, name]) => `\t${name} => ${name} ${version}`);
    const lines = ["module harrier.test/kubernetes", "go 1.24.0", `require k8s.io/kubernetes v${kubernetesVersion}`];
    writeFileSync(join(dir, "go.mod"), [...lines, "replace (", ...replaced, ")", ""].join("\n"));
    for (const [name, program] of Object.entries({ apiserver: apiServerProgram, etcd: etcdProgram })) {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, "main.go"), program);
    }
    const env = { ...process.env, GOFLAGS: "-p=2 -mod=mod" };
    await install("go", ["mod", "tidy"], { cwd: dir, env });
    // the API server is asked for its version: objects and clients depend on it
    const [major, minor] = kubernetesVersion.split(".");
    const stamps = { gitVersion: `v${kubernetesVersion}`, gitMajor: major, gitMinor: minor };
    const flags = Object.entries(stamps).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
    const out = join(dir, "out");
    mkdirSync(out);
    await install("go", ["build", "-ldflags", ["-s -w", ...flags].join(" "), "-o", `${out}/`, "./apiserver", "./etcd"], { cwd: dir, env });
    return out;
  });
}

/** Starts an empty API server with the admission of a usual cluster, Pod Security included. */
export async function startApiServer(): Promise<ApiServer> {
  const programs = await installApiServer();
  const root = mkdtempSync(join(tmpdir(), "harrier-kubernetes-"));
  const [clientPort = 0, peerPort = 0, port = 0] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${clientPort}`;
  const etcd = await startServer({
    name: "etcd",
    command: join(programs, "etcd"),
    args: [
      ...["--data-dir", join(root, "etcd"), "--listen-client-urls", etcdUrl, "--advertise-client-urls", etcdUrl],
      ...["--listen-peer-urls", `http://127.0.0.1:${peerPort}`, "--log-level", "error"],
    ],
    cwd: root,
    isReady: () => isHealthy(`${etcdUrl}/health`),
    limitMs: 60_000,
  });
  const token = randomBytes(24).toString("hex");
  const file = (name: string) => join(root, name);
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeFileSync(file("accounts.key"), privateKey);
  writeFileSync(file("tokens.csv"), `${token},admin,admin,system:masters\n`);
  const ask: ApiServer["ask"] = (method, path, body, type = "application/json") => send({ port, token, method, path, body, type });
  const server = await startServer({
    name: "kube-apiserver",
    command: join(programs, "apiserver"),
    args: [
      ...["--etcd-servers", etcdUrl, "--bind-address", "127.0.0.1", "--secure-port", String(port), "--cert-dir", file("certs")],
      ...["--token-auth-file", file("tokens.csv"), "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.96.0.0/16"],
      ...["--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", file("accounts.key")],
      ...["--service-account-signing-key-file", file("accounts.key")],
    ],
    cwd: root,
    isReady: () =>
      ask("GET", "/readyz").then(
        ({ status }) => status === 200,
        () => false,
      ),
    limitMs: 180_000,
  });
  const kubeconfig = file("kubeconfig.json");
  const cluster = { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster }],
      users: [{ name: "admin", user: { token } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
      "current-context": "test",
    }),
    { mode: 0o600 },
  );
  return {
    kubeconfig,
    ask,
    async stop() {
      await server.stop("SIGKILL"); // on SIGTERM it waits a minute for its clients
      await etcd.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const isHealthy = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

interface Sent {
  port: number;
  token: string;
  method: string;
  path: string;
  body: object | undefined;
  type: string;
}

/** Sends one request; the certificate of the server is its own and is not verified. */
function send({ port, token, method, path, body, type }: Sent): Promise<{ status: number; body: Manifest }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": type }) };
    const req = request({ host: "127.0.0.1", port, method, path, headers, rejectUnauthorized: false }, (res) => {
      const parts: Buffer[] = [];
      res.on("data", (part: Buffer) => parts.push(part));
      res.on("end", () => {
        const text = Buffer.concat(parts).toString();
        resolve({ status: res.statusCode ?? 0, body: (text.startsWith("{") ? JSON.parse(text) : { message: text }) as Manifest });
      });
    });
    req.on("error", reject);
    req.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

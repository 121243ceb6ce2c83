import { ok } from "node:assert";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, npmClient } from "@harrier/testkit";

const PACKAGE = "@awesomeorganization/hawkbit-ddi";
const VERSION = "0.2.0";

// This is the part of the client's interface that a device needs; each step returns an Error in place of throwing it.

interface Report {
  execution: string;
  finished: string;
  details: string[];
}
interface Artifact {
  filename: string;
  size: number;
  hashes: { sha256: string };
}
interface DeploymentBase {
  id: string;
  deployment: { chunks: { artifacts: Artifact[] }[] };
}
interface Step<Action extends string, Methods> {
  action: Action;
  methods: Methods;
}
type Next =
  | Step<"configData", { put(data: Report & { data: Record<string, string>; mode: string }): Promise<Error | undefined> }>
  | Step<
      "deploymentBase",
      {
        get(): Promise<DeploymentBase | Error>;
        downloadArtifact(artifact: Artifact): Promise<number | Error>;
        postFeedback(report: Report & { cnt: number; of: number }): Promise<Error | undefined>;
      }
    >
  | Step<
      "cancelAction",
      { get(): Promise<{ cancelAction: { stopId: string } } | Error>; postFeedback(report: Report): Promise<Error | undefined> }
    >
  | { action?: undefined };
interface Client {
  /** Waits as long as the last answer said, and returns what to do. */
  polling(): Promise<Next | Error | undefined>;
}
interface ClientModule {
  hawkBitDDI(options: {
    url: string;
    tenant: string;
    controllerId: string;
    gatewayToken?: string;
    targetToken?: string;
    agentOptions?: { connect: TlsOptions };
    artifactsPath: string;
    hashAlgorithm: "sha256";
    downloadField: "download-http";
    logger(direction: "request" | "response", what: { statusCode?: number }): void;
  }): Promise<Client>;
}

interface TlsOptions {
  ca: string;
  cert: string;
  key: string;
}

/** How it signs in: by one of the tokens, or by a certificate. */
type Credential = { gatewayToken: string } | { targetToken: string } | { certificate: TlsOptions };

export interface DdiDeviceOptions {
  baseUrl: string;
  controllerId: string;
  credential: Credential;
  /** The folder for its downloads. */
  dir: string;
  /** Returns the result of an installation; `unfinished` means that it goes on and can still be cancelled. */
  install: (file: Buffer) => "success" | "failure" | "unfinished";
}

export interface DdiDevice {
  /** The status of every answer that the client got. */
  readonly statuses: readonly number[];
  /** The messages of what the client took for an error. */
  readonly errors: readonly string[];
  stop(): void;
}

/** Starts a device around a client that others made: this file decides and the client communicates, as in its own example. */
export async function startDdiDevice(options: DdiDeviceOptions): Promise<DdiDevice> {
  const { baseUrl: url, controllerId, credential, dir: artifactsPath } = options;
  const signIn = "certificate" in credential ? { agentOptions: { connect: credential.certificate } } : credential;
  const module = (await import(pathToFileURL(join(await npmClient(PACKAGE, VERSION), "main.js")).href)) as ClientModule;
  const statuses: number[] = [];
  const errors: string[] = [];
  let running = true;
  const client = await module.hawkBitDDI({
    ...{ url, tenant: "DEFAULT", controllerId, artifactsPath, ...signIn },
    hashAlgorithm: "sha256",
    downloadField: "download-http",
    logger: (_, { statusCode }) => {
      if (statusCode !== undefined) statuses.push(statusCode);
    },
  });
  const live = async () => {
    while (running) {
      const next = good(await client.polling());
      // Its wait for the next poll cannot be shortened.
      if (running && next?.action !== undefined) await follow(next, options);
    }
  };
  live().catch((error: unknown) => {
    if (running) errors.push(String(error));
  });
  return {
    statuses,
    errors,
    stop() {
      running = false;
    },
  };
}

async function follow(next: Exclude<Next, { action?: undefined }>, { install, dir, controllerId }: DdiDeviceOptions): Promise<void> {
  const closed = (finished: string, details: string[]) => ({ execution: "closed", finished, details });
  switch (next.action) {
    case "configData":
      good(await next.methods.put({ ...closed("success", []), mode: "merge", data: { device: controllerId } }));
      return;
    case "cancelAction": {
      const { cancelAction } = good(await next.methods.get());
      good(await next.methods.postFeedback(closed("success", [`gave up action ${cancelAction.stopId}`])));
      return;
    }
    case "deploymentBase": {
      const report = async (told: Report, cnt: number) => good(await next.methods.postFeedback({ ...told, cnt, of: 2 }));
      const proceeding = (detail: string) => ({ execution: "proceeding", finished: "none", details: [detail] });
      const { deployment } = good(await next.methods.get());
      const [artifact] = deployment.chunks.flatMap(({ artifacts }) => artifacts);
      if (artifact === undefined) return void (await report(closed("failure", ["nothing to install"]), 0));
      await report(proceeding("downloading"), 0);
      good(await next.methods.downloadArtifact(artifact));
      // The client asks with its ETag whether the deployment is still valid.
      good(await next.methods.get());
      const path = join(dir, artifact.filename);
      // The client returns when it has read the last byte, and writes the file afterwards.
      await eventually(() => ok(statSync(path).size === artifact.size), 10_000);
      const file = readFileSync(path);
      const result = install(file);
      const hash = createHash("sha256").update(file).digest("hex");
      if (result === "unfinished") await report(proceeding("installing"), 1);
      else await report(closed(result, [result === "success" ? `installed ${hash}` : `refused ${hash}`]), 2);
    }
  }
}

function good<T>(answer: T | Error): T {
  if (answer instanceof Error) throw answer;
  return answer;
}

import { type Answer, type Call, send, succeeded } from "./http.ts";

export interface DeviceOptions {
  baseUrl: string;
  tenant?: string;
  controllerId: string;
  /** It is a TargetToken or a gateway token; without either the device is refused. */
  token?: string;
  gatewayToken?: string;
}

interface Link {
  href: string;
}
export interface Poll {
  config: { polling: { sleep: string } };
  _links?: Partial<Record<"deploymentBase" | "cancelAction" | "configData" | "installedBase" | "confirmationBase", Link>>;
}
export interface Deployment {
  id: string;
  deployment: {
    download: string;
    update: string;
    chunks: { part: string; version: string; name: string; artifacts: DeploymentArtifact[] }[];
  };
}
export interface DeploymentArtifact {
  filename: string;
  size: number;
  hashes: Record<"md5" | "sha1" | "sha256", string>;
  _links: Record<string, Link>;
}

export type Device = ReturnType<typeof createDevice>;

/** Makes a device: the steps of its interface one by one, by the links that it gets, so that a test chooses their order. */
export function createDevice({ baseUrl, tenant = "DEFAULT", controllerId, token, gatewayToken }: DeviceOptions) {
  const own = `${baseUrl}/${tenant}/controller/v1/${encodeURIComponent(controllerId)}`;
  const headers: Record<string, string> = { accept: "application/json" };
  if (token !== undefined) headers["authorization"] = `TargetToken ${token}`;
  if (gatewayToken !== undefined) headers["authorization"] = `GatewayToken ${gatewayToken}`;
  /** Takes a path below the device's own address, or a whole URL (a link). */
  const call = <Body = unknown>(path: string, options: Call = {}): Promise<Answer<Body>> =>
    send<Body>(/^https?:/.test(path) ? path : own + path, { ...options, headers: { ...headers, ...options.headers } });
  const get = async <Body>(path: string): Promise<Body> => succeeded(await call<Body>(path), `GET ${path}`);
  const poll = () => get<Poll>("");
  return {
    controllerId,
    call,
    poll,
    /** Polls and follows the deployment link; undefined if there is none. */
    async deployment(): Promise<Deployment | undefined> {
      const link = (await poll())._links?.deploymentBase;
      return link === undefined ? undefined : get<Deployment>(link.href);
    },
    /** Sends feedback on an update and answers with any status. */
    report: (actionId: number | string, execution: string, finished = "none", details: readonly string[] = []) =>
      call(`/deploymentBase/${actionId}/feedback`, {
        method: "POST",
        body: { id: String(actionId), status: { execution, result: { finished }, details } },
      }),
    /** Sends feedback on a cancellation. */
    reportCancel: (actionId: number | string, execution: string, finished = "success", details: readonly string[] = []) =>
      call(`/cancelAction/${actionId}/feedback`, {
        method: "POST",
        body: { id: String(actionId), status: { execution, result: { finished }, details } },
      }),
    putAttributes: (data: Readonly<Record<string, string>>, mode?: "merge" | "replace" | "remove") =>
      call("/configData", { method: "PUT", body: { ...(mode === undefined ? {} : { mode }), data } }),
    /** Answers the bytes of a file, or of a part of it (`bytes=0-9`). */
    async download(artifact: DeploymentArtifact, range?: string): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
      const link = artifact._links["download"] ?? artifact._links["download-http"];
      if (link === undefined) throw new Error(`${artifact.filename} has no download link`);
      const response = await fetch(link.href, {
        headers: { ...headers, accept: "application/octet-stream", ...(range === undefined ? {} : { range }) },
      });
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    },
  };
}

import type { HarrierError } from "@harrier/errors";
import { type Mock, vi } from "vitest";
import { type ClientOptions, createClient } from "../src/client.ts";
import { identityHeader, type Principal, payloadOf } from "../src/identity.ts";
import { identityHeaders } from "../src/identity-headers.ts";
import { parseKeys } from "../src/keys.ts";
import { type OnBehalf, onBehalfHeader } from "../src/on-behalf.ts";
import { createRpcServer, type RpcServer, type RpcServerOptions } from "../src/server.ts";
import type { ServiceName } from "../src/services.ts";
import type { Handlers, OutCall, RpcLog } from "../src/types.ts";

export const secret = (letter: string) => Buffer.from(letter.repeat(32)).toString("base64");
export const keyText = [
  "gateway/controller",
  "management/controller",
  "rollout-engine/controller",
  "artifact-store/controller",
  "gateway/management",
]
  .map((pair, n) => `${pair}=k1:${secret("abcde".charAt(n))}`)
  .join(";");
export const keys = parseKeys(keyText);
export const log: Record<keyof RpcLog, Mock> = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
export const actions = "harrier.controller.v1.ActionsService";
export type ActionHandlers = Handlers<typeof actions>;

const unused = () => Promise.reject(new Error("not expected"));
export const idle: ActionHandlers = {
  assignSet: unused,
  assignSets: unused,
  assignOffline: unused,
  cancelAction: unused,
  forceAction: unused,
  confirmAction: unused,
  proveAction: unused,
  retryAction: unused,
  openFence: unused,
  closeFence: unused,
  scheduleChunk: unused,
  startChunk: unused,
  stopChunk: unused,
  cancelSetChunk: unused,
  noteDownloads: unused,
  autoAssignChunk: unused,
  deleteActions: unused,
};

const cleanups: (() => unknown)[] = [];
/** Ends what `serve` and `connect` began, last first. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  vi.clearAllMocks();
}

/** A controller whose action handlers are those given; the others fail. */
export async function serve(handlers: Partial<ActionHandlers>, more: Partial<RpcServerOptions> = {}): Promise<[RpcServer, number]> {
  const server = createRpcServer({ service: "controller", host: "127.0.0.1", port: 0, keys, log, ...more });
  server.add(actions, { ...idle, ...handlers });
  const port = await server.start();
  cleanups.push(() => server.stop(0));
  return [server, port];
}

/** A client of these ports, management's unless told otherwise. */
export function connect(ports: number[], options: Partial<ClientOptions> = {}) {
  const addresses = ports.map((port) => `127.0.0.1:${port}`).join(",");
  const client = createClient(actions, { caller: "management", addresses, keys, ...options });
  cleanups.push(() => client.close());
  return client;
}

const admin: Principal = { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: ["UPDATE_TARGET"] };

/** The gateway's delegation for a principal, as `holder` gets it with a request. */
export function delegationOf(principal: Principal, rid: string, holder: ServiceName = "management"): OnBehalf {
  const allKeys = parseKeys(
    ["controller", "management", "rollout-engine", "artifact-store"].map((to) => `gateway/${to}=k1:${secret("a")}`).join(";"),
  );
  const at = { audience: holder, method: "GET", path: "/", caller: "gateway", expiresAt: Date.now() + 10_000 } as const;
  const headers = identityHeaders(allKeys, { ...principal, ...at, rid, baseUrl: "" });
  return { payload: payloadOf(headers[identityHeader]), delegations: headers[onBehalfHeader] ?? "" };
}

/** A call on behalf of an administrator, with the gateway's delegation. */
export function call(more: Partial<OutCall> = {}): OutCall {
  const { principal = admin, rid = "r-1" } = more;
  return { principal, rid, deadline: Date.now() + 5_000, onBehalf: delegationOf(principal, rid), ...more };
}
export const failure = (promise: Promise<unknown>): Promise<HarrierError> =>
  promise.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: HarrierError) => error,
  );
export const force = { controllerId: "d1", actionId: 11 };

import { Agent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { clockDifferenceMs, type RpcTls } from "@harrier/rpc";

/** A service that the gateway forwards to. */
export type UpstreamName = "controller" | "management" | "artifact-store" | "rollout-engine";

export interface Replica {
  readonly url: string;
  /** The same in parts, for the proxy: as text it would be taken apart again for every request. */
  readonly target: { readonly protocol: string; readonly host: string; readonly port: string };
  ready: boolean;
  /** How much its clock is ahead of ours, to the second, when it was last asked; undefined where it did not answer. */
  clockAheadMs: number | undefined;
}

export interface Upstreams {
  /** A replica that is ready, in turn; with none ready the next in turn, whose refusal then is the answer. */
  pick(service: UpstreamName): Replica;
  /** Another replica of the same service, if there is one; rather one that is ready. */
  pickOther(failed: Replica): Replica | undefined;
  /** True while at least one replica of every service serves. */
  allReady(): boolean;
  states(): Record<UpstreamName, boolean>;
  /** Seconds that the clocks of replicas are ahead of ours, of those that differ by more than what is accepted, by address. */
  wrongClocks(): Record<string, number>;
  /** True where it is more likely our clock that is wrong: all that answer, of two services at least, differ from it in the same direction. */
  isOwnClockWrong(): boolean;
  start(): void;
  stop(): void;
  /** For answers that come at once. */
  readonly agent: Agent;
  /** For transfers, which may last for hours: as many as there are clients for them, beside the others. */
  readonly transferAgent: Agent;
}

const checkEveryMs = 500;

/** Keeps a list of replicas per service and asks each for its readiness twice a second. */
export function createUpstreams(addresses: Record<UpstreamName, string>, tls?: RpcTls): Upstreams {
  // one pool for all: connections stay open between polls of different devices
  const pool = { keepAlive: true, maxFreeSockets: 256, scheduling: "lifo", timeout: 0 } as const;
  const open = (maxSockets: number) =>
    tls === undefined ? new Agent({ ...pool, maxSockets }) : new TlsAgent({ ...pool, maxSockets, ...tls });
  const [agent, transferAgent] = [open(512), open(Number.POSITIVE_INFINITY)];
  const lists = new Map<UpstreamName, { replicas: Replica[]; next: number }>();
  for (const [service, list] of Object.entries(addresses)) {
    const replicas = list.split(",").map((url) => replicaAt(url.trim()));
    lists.set(service as UpstreamName, { replicas, next: 0 });
  }
  const all = [...lists.values()].flatMap((l) => l.replicas);
  let timer: NodeJS.Timeout | undefined;

  return {
    agent,
    transferAgent,
    pick(service) {
      const list = lists.get(service) as { replicas: Replica[]; next: number };
      const n = list.replicas.length;
      for (let i = 0; i < n; i++) {
        const replica = list.replicas[list.next++ % n] as Replica;
        if (replica.ready) return replica;
      }
      return list.replicas[list.next++ % n] as Replica;
    },
    pickOther(failed) {
      const siblings = [...lists.values()].find((l) => l.replicas.includes(failed))?.replicas ?? [];
      const others = siblings.filter((r) => r !== failed);
      // one that has just come back may not have been asked for its readiness yet
      return others.find((r) => r.ready) ?? others[0];
    },
    allReady: () => [...lists.values()].every((l) => l.replicas.some((r) => r.ready)),
    states: () =>
      Object.fromEntries([...lists].map(([name, l]) => [name, l.replicas.some((r) => r.ready)])) as Record<UpstreamName, boolean>,
    wrongClocks: () =>
      Object.fromEntries(all.filter(isClockWrong).map(({ url, clockAheadMs = 0 }) => [url, Math.round(clockAheadMs / 1000)])),
    isOwnClockWrong() {
      const answered = all.filter(({ clockAheadMs }) => clockAheadMs !== undefined);
      const services = [...lists.values()].filter(({ replicas }) => replicas.some((replica) => answered.includes(replica)));
      const ahead = answered.filter(({ clockAheadMs = 0 }) => clockAheadMs > 0);
      const oneWay = ahead.length === 0 || ahead.length === answered.length;
      return services.length >= 2 && oneWay && answered.every(isClockWrong);
    },
    start() {
      const check = () => {
        for (const replica of all) void probe(replica, tls);
      };
      check();
      timer = setInterval(check, checkEveryMs);
    },
    stop() {
      clearInterval(timer);
      agent.destroy();
      transferAgent.destroy();
    },
  };
}

/** It would refuse all that we sign, or we all that it does. */
const isClockWrong = ({ clockAheadMs = 0 }: Replica): boolean => Math.abs(clockAheadMs) > clockDifferenceMs;

function replicaAt(url: string): Replica {
  const { protocol, hostname, port } = new URL(url);
  const defaultPort = protocol === "https:" ? "443" : "80";
  return {
    url,
    target: { protocol, host: hostname.replace(/^\[|\]$/g, ""), port: port || defaultPort },
    ready: false,
    clockAheadMs: undefined,
  };
}

function probe(replica: Replica, tls: RpcTls | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (ready: boolean, clockAheadMs?: number) => {
      replica.clockAheadMs = clockAheadMs;
      replica.ready = ready;
      resolve();
    };
    const options = { agent: false, timeout: 2_000, ...tls } as const;
    const url = `${replica.url}/readyz`;
    const req = (tls === undefined ? request : tlsRequest)(url, options, (res) => {
      res.resume();
      // seconds are fine enough for a difference of a minute
      const clock = Date.parse(res.headers.date ?? "");
      const aheadMs = Number.isFinite(clock) ? clock - Date.now() : undefined;
      end(res.statusCode === 200 && Math.abs(aheadMs ?? 0) <= clockDifferenceMs, aheadMs);
    });
    req.on("timeout", () => req.destroy());
    req.on("error", () => end(false));
    req.end();
  });
}

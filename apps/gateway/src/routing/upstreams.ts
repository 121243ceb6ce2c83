import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { crc32 } from "node:zlib";
import { clockDifferenceMs, type RpcTls } from "@harrier/rpc";
import { Connections } from "./connections.ts";
import { createProbes } from "./probes.ts";

/** A replica that accepts no connection for so long counts as absent: less than the budget of a device's request, so that another can be asked. */
const connectMs = 2_000;

/** A service that the gateway forwards to. */
export type UpstreamName = "controller" | "management" | "artifact-store" | "rollout-engine";

export interface Replica {
  readonly url: string;
  /** The same in parts, for the proxy, which would have to parse the text again for every request. */
  readonly target: { readonly protocol: string; readonly host: string; readonly port: string };
  ready: boolean;
  /** How much its clock was ahead of ours, to the second, when it was last asked; undefined if it did not answer. */
  clockAheadMs: number | undefined;
}

export interface Upstreams {
  /**
   * Returns the next ready replica, round-robin; with none ready the next of all, whose error is then the answer. Requests with the same key get the
   * same replica as long as it is ready, because it holds something for them.
   */
  pick(service: UpstreamName, key?: string): Replica;
  /** Returns another replica of the same service, if there is one; preferably a ready one. */
  pickOther(failed: Replica): Replica | undefined;
  /** Returns true while at least one replica of every service serves. */
  allReady(): boolean;
  states(): Record<UpstreamName, boolean>;
  /** Returns the seconds that the clocks of replicas are ahead of ours, of those that differ by more than what is accepted, by address. */
  wrongClocks(): Record<string, number>;
  /** Returns true if it is more likely our clock that is wrong: all that answer, of two services at least, differ from it in the same direction. */
  isOwnClockWrong(): boolean;
  /**
   * Asks every replica for its readiness and waits for none: one that hangs must not delay the answers of the others. It is called twice a second;
   * a replica that has long been ready is asked every one and a half seconds alone, and at once when the connection for it ends. It answers whether all have
   * long been ready.
   */
  check(): boolean;
  stop(): void;
  /** The connections for short requests, of devices. */
  readonly connections: Connections;
  /** The agent for other answers that come at once. */
  readonly agent: Agent;
  /** The agent for transfers, which may last for hours: it has as many connections as there are clients for them, beside the others. */
  readonly transferAgent: Agent;
}

/** Keeps a list of replicas per service, with their readiness. */
export function createUpstreams(addresses: Record<UpstreamName, string>, tls?: RpcTls): Upstreams {
  // There is one pool for all: connections stay open between polls of different devices.
  const pool = { keepAlive: true, maxFreeSockets: 256, scheduling: "lifo", timeout: 0 } as const;
  const open = (maxSockets: number) =>
    tls === undefined ? new Agent({ ...pool, maxSockets }) : new TlsAgent({ ...pool, maxSockets, ...tls });
  const [agent, transferAgent] = [open(512), open(Number.POSITIVE_INFINITY)];
  const connections = new Connections(tls, connectMs);
  const lists = new Map<UpstreamName, { replicas: Replica[]; next: number }>();
  for (const [service, list] of Object.entries(addresses)) {
    const replicas = list.split(",").map((url) => replicaAt(url.trim()));
    lists.set(service as UpstreamName, { replicas, next: 0 });
  }
  const all = [...lists.values()].flatMap((l) => l.replicas);
  const probes = createProbes(tls);

  return {
    connections,
    agent,
    transferAgent,
    pick(service, key) {
      const list = lists.get(service) as { replicas: Replica[]; next: number };
      const from = key === undefined ? list.next : crc32(key);
      const at = (n: number): Replica => list.replicas[(from + n) % list.replicas.length] as Replica;
      let skipped = 0;
      while (skipped < list.replicas.length && !at(skipped).ready) skipped += 1;
      if (key === undefined) list.next = from + skipped + 1;
      return at(skipped);
    },
    pickOther(failed) {
      const siblings = [...lists.values()].find((l) => l.replicas.includes(failed))?.replicas ?? [];
      const others = siblings.filter((r) => r !== failed);
      // A replica that has just come back may not have been asked for its readiness yet.
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
    check: () => all.map((replica) => probes.ask(replica)).every((isSteady) => isSteady),
    stop() {
      probes.stop();
      connections.stop();
      agent.destroy();
      transferAgent.destroy();
    },
  };
}

/** Returns true if the replica would deny all that we sign, or we all that it signs. */
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

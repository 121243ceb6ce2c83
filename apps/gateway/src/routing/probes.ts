import { Agent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import type { Socket } from "node:net";
import { clockDifferenceMs, type RpcTls } from "@harrier/rpc";

/** What a probe finds out about a replica. */
interface Probed {
  readonly url: string;
  ready: boolean;
  /** The milliseconds that its clock is ahead of ours, to the second; undefined if it did not answer. */
  clockAheadMs: number | undefined;
}

export interface Probes {
  /**
   * Asks the replica for its readiness, unless it has been ready for long and was asked a moment ago. It does not wait; it answers whether the replica has
   * been ready for long.
   */
  ask(replica: Probed): boolean;
  stop(): void;
}

const answerWithinMs = 2_000;
/** A replica that has been ready for so long is asked more seldom: what ends its connection, the end of its process above all, is seen at once. */
const steadyAfterMs = 10_000;
/** Only a replica that hangs, or that has lost its database, is noticed so late: others end the connection. */
const steadyEveryMs = 1_500;

interface Course {
  askedAt: number;
  /** Since then every answer was "ready". */
  readySince: number | undefined;
}

/** Asks replicas for their readiness, each over a connection that stays open. */
export function createProbes(tls: RpcTls | undefined, now: () => number = () => performance.now()): Probes {
  const courses = new Map<Probed, Course>();
  const watched = new WeakSet<Socket>();
  const agent = tls === undefined ? new Agent({ keepAlive: true }) : new TlsAgent({ keepAlive: true, ...tls });
  let stopped = false;

  const courseOf = (replica: Probed): Course => {
    const course = courses.get(replica) ?? { askedAt: Number.NEGATIVE_INFINITY, readySince: undefined };
    courses.set(replica, course);
    return course;
  };
  const end = (replica: Probed, ready: boolean, clockAheadMs?: number): void => {
    const course = courseOf(replica);
    course.readySince = ready ? (course.readySince ?? now()) : undefined;
    replica.clockAheadMs = clockAheadMs;
    replica.ready = ready;
  };
  /** When its connection ends between two probes the replica has died or is about to end. */
  const watch = (replica: Probed, socket: Socket): void => {
    if (watched.has(socket)) return;
    watched.add(socket);
    socket.once("close", () => {
      if (!stopped && replica.ready) probe(replica);
    });
  };
  const probe = (replica: Probed): void => {
    courseOf(replica).askedAt = now();
    const req = (tls === undefined ? request : tlsRequest)(`${replica.url}/readyz`, { agent, timeout: answerWithinMs }, (res) => {
      res.resume();
      // Seconds are exact enough for a difference of a minute.
      const clock = Date.parse(res.headers.date ?? "");
      const aheadMs = Number.isFinite(clock) ? clock - Date.now() : undefined;
      end(replica, res.statusCode === 200 && Math.abs(aheadMs ?? 0) <= clockDifferenceMs, aheadMs);
    });
    req.on("socket", (socket) => watch(replica, socket));
    req.on("timeout", () => req.destroy());
    req.on("error", () => end(replica, false));
    req.end();
  };

  return {
    ask(replica) {
      const { askedAt, readySince } = courseOf(replica);
      const isSteady = readySince !== undefined && now() - readySince >= steadyAfterMs;
      if (!isSteady || now() - askedAt >= steadyEveryMs) probe(replica);
      return isSteady;
    },
    stop() {
      stopped = true;
      agent.destroy();
    },
  };
}

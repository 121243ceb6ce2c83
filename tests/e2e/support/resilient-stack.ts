import type { FaultPoint } from "@harrier/service";
import { type RunningService, type ServiceName, type Stack, serviceNames } from "@harrier/stack";
import { eventually, type Kafka, startKafka, twoOfEach } from "@harrier/testkit";
import { actionEventFaults, type EventLog, followEvents, relayed, rolloutEventFaults, shapeFaults } from "./events.ts";
import { faultsOf } from "./invariants.ts";
import { type JobAction, type JobOptions, runJob } from "./job.ts";
import { allowTargetTokens, replicasOf } from "./replicas.ts";
import { answering, startAnsweringStack } from "./serving.ts";

/** A stack with Kafka whose replicas a test kills, and which counts the deaths. */
export interface ResilientStack {
  readonly stack: Stack;
  /** The names of the replicas that were killed, in order. */
  readonly deaths: readonly string[];
  /** Restarts each replica of the point's service with this fault (`point:nth`), which kills it once. */
  arm(fault: string): Promise<void>;
  /** Restarts the armed replicas that did not die, and waits for the others. */
  disarm(): Promise<void>;
  /** Runs the main job while `meanwhile` does harm; resolves to everything that is wrong afterwards. */
  jobFaults(options?: JobOptions): Promise<string[]>;
  /** Waits for the events of these actions, and of a rollout, and resolves to what is missing or wrong. */
  eventFaults(actions: readonly JobAction[], rolloutId?: number): Promise<string[]>;
  stop(): Promise<void>;
}

/** The name of a point begins with the service that passes it. */
export function serviceOf(fault: string): ServiceName {
  const point = fault.split(":")[0] as FaultPoint;
  const service = serviceNames.find((name) => point.startsWith(`${name}.`));
  if (service === undefined) throw new Error(`${fault}: no service`);
  return service;
}

export async function startResilientStack(): Promise<ResilientStack> {
  const kafka: Kafka = await startKafka();
  const deaths: string[] = [];
  let stack: Stack | undefined;
  let events: EventLog | undefined;
  const stop = async () => {
    await events?.stop();
    await stack?.stop();
    await kafka.stop();
  };
  try {
    const print = (line: string) => {
      const name = /^\[(.+)\] ended \(SIGKILL\)/.exec(line)?.[1];
      if (name !== undefined) deaths.push(name);
    };
    stack = await startAnsweringStack({ replicas: twoOfEach, kafkaBrokers: kafka.brokers, print });
    await allowTargetTokens(stack);
    events = await followEvents(kafka.brokers);
    return assemble(stack, { events, deaths, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Parts {
  events: EventLog;
  deaths: string[];
  stop(): Promise<void>;
}

function assemble(stack: Stack, { events, deaths, stop }: Parts): ResilientStack {
  let armed: RunningService[] = [];
  let deathsBefore = 0;
  const restart = async ({ service, index }: RunningService, fault?: string) => {
    // `restart` gives up on a replica that has died five times; here the deaths are intended.
    await stack.restart(service, index, fault).catch((error: Error) => {
      if (!error.message.includes("keeps ending")) throw error;
    });
  };
  const eventFaults: ResilientStack["eventFaults"] = async (actions, rolloutId) => {
    await relayed(stack.adminDatabaseUrl as string);
    const missing = () => [
      ...actionEventFaults(events.kept(), actions),
      ...(rolloutId === undefined ? [] : rolloutEventFaults(events.kept(), rolloutId)),
    ];
    await eventually(() => {
      if (missing().length > 0) throw new Error("not yet");
    }, 20_000).catch(() => undefined);
    return [...missing(), ...shapeFaults(events.kept())];
  };
  return {
    stack,
    deaths,
    stop,
    eventFaults,
    async arm(fault) {
      armed = replicasOf(stack, serviceOf(fault));
      deathsBefore = deaths.length;
      for (const replica of armed) await restart(replica, fault);
      await answering(stack);
    },
    async disarm() {
      const dead = deaths.slice(deathsBefore);
      for (const replica of armed) if (!dead.includes(replica.name)) await restart(replica);
      armed = [];
      await answering(stack);
    },
    async jobFaults(options) {
      const job = await runJob(stack, options);
      return [...faultsOf(job), ...(await eventFaults(job.actions, job.demo.rolloutId))];
    },
  };
}

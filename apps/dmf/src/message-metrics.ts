import type { Metrics } from "@harrier/service";
import { Counter, Gauge } from "prom-client";
import type { RefusalKind } from "./incoming/parse-message.ts";

export interface MessageMetrics {
  received(outcome: "handled" | RefusalKind): void;
  sent(outcome: "sent" | "dropped" | "postponed", n: number): void;
  /** All that there was to send has been sent. */
  caughtUp(): void;
}

/** How many virtual hosts are in each state. */
type HostCounts = Readonly<Record<"connected" | "blocked" | "away", number>>;

/** Counts messages by their fate, a refused one by the kind of its reason, and tells how far this replica has come. */
export function createMessageMetrics(registry: Metrics["registry"], hosts: () => HostCounts): MessageMetrics {
  const received = new Counter({
    name: "harrier_dmf_received_total",
    help: "Messages of things, by outcome: handled, or the kind of reason for which it went to the dead letters",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const sent = new Counter({
    name: "harrier_dmf_sent_total",
    help: "Messages to things, by outcome: sent, dropped because their exchange is gone, or postponed because their virtual host takes none or a queue is full",
    labelNames: ["outcome"],
    registers: [registry],
  });
  new Gauge({
    name: "harrier_dmf_virtual_hosts",
    help: "Virtual hosts of tenants with DMF, by state: connected, blocked by a broker without memory or disk, or away",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      for (const [state, n] of Object.entries(hosts())) this.set({ state }, n);
    },
  });
  const caughtUp = new Gauge({
    name: "harrier_dmf_caught_up_timestamp_seconds",
    help: "When this replica last had sent all messages to things that there were, or started; the latest of all replicas counts",
    registers: [registry],
  });
  caughtUp.setToCurrentTime();
  return {
    caughtUp: () => caughtUp.setToCurrentTime(),
    received: (outcome) => received.inc({ outcome }),
    sent: (outcome, n) => sent.inc({ outcome }, n),
  };
}

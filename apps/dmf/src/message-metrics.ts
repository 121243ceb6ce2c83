import type { Metrics } from "@harrier/service";
import { Counter } from "prom-client";
import type { RefusalKind } from "./incoming/parse-message.ts";

export interface MessageMetrics {
  received(outcome: "handled" | RefusalKind): void;
  sent(outcome: "sent" | "dropped" | "postponed", n: number): void;
}

/** Counts messages by their fate; a refused one by the kind of its reason. */
export function createMessageMetrics(registry: Metrics["registry"]): MessageMetrics {
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
  return {
    received: (outcome) => received.inc({ outcome }),
    sent: (outcome, n) => sent.inc({ outcome }, n),
  };
}

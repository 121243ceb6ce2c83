import { randomUUID } from "node:crypto";
import { type Client, servicePrincipal } from "@harrier/rpc";
import type { RefusedMessage } from "./parse-message.ts";

interface Counted {
  tenantId: number;
  kind: string;
  count: number;
  lastAt: number;
  lastReason: string;
}

/** A call tells so many, of all tenants together. */
const maxTold = 1_000;
const callMs = 5_000;

/** Counts refused messages by tenant and kind, until controller has been told: there are as many counts as kinds of each tenant, however many messages come. */
export class Refusals {
  readonly #controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "recordRefusals">;
  #counts = new Map<string, Counted>();

  constructor(controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "recordRefusals">) {
    this.#controller = controller;
  }

  add(tenantId: number, { kind, message }: Pick<RefusedMessage, "kind" | "message">): void {
    this.#merge({ tenantId, kind, count: 1, lastAt: Date.now(), lastReason: message });
  }

  /** Tells controller what has been counted; what it could not be told is told the next time. True if there is more. */
  async tell(): Promise<boolean> {
    const told = [...this.#counts.entries()].slice(0, maxTold);
    if (told.length === 0) return false;
    for (const [key] of told) this.#counts.delete(key);
    const refusals = told.map(([, counted]) => counted);
    try {
      const call = { principal: servicePrincipal("dmf"), rid: randomUUID(), deadline: Date.now() + callMs };
      await this.#controller.recordRefusals({ refusals }, call);
    } catch (error) {
      for (const counted of refusals) this.#merge(counted);
      throw error;
    }
    return this.#counts.size > 0;
  }

  #merge(more: Counted): void {
    const key = `${more.tenantId} ${more.kind}`;
    const before = this.#counts.get(key);
    if (before === undefined) {
      this.#counts.set(key, { ...more });
      return;
    }
    before.count += more.count;
    if (more.lastAt < before.lastAt) return;
    before.lastAt = more.lastAt;
    before.lastReason = more.lastReason;
  }
}

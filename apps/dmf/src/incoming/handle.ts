import { randomUUID } from "node:crypto";
import { codes, HarrierError } from "@harrier/errors";
import { backOff, pause } from "@harrier/jobs";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";
import { type Incoming, RefusedMessage } from "./parse-message.ts";

export interface HandleDeps {
  controller: Pick<
    Client<"harrier.controller.v1.DeviceMessagesService">,
    "findThings" | "registerThing" | "removeThing" | "updateThingAttributes" | "reportActionStatus" | "switchThingAutoConfirm"
  >;
  /** Sends the answer of a ping. */
  answerPing(exchange: string, correlationId: string): Promise<void>;
}

export interface Tenant {
  readonly tenantId: number;
  readonly tenant: string;
  readonly vhost: string;
}

const callMs = 10_000;
const retries = { firstMs: 100, maxMs: 5_000 };
/** A failure that nobody expects is the message's own if it comes so often. */
const maxFailures = 5;

export const callAs = ({ tenantId, tenant }: Tenant): OutCall => ({
  principal: servicePrincipal("dmf", { id: tenantId, name: tenant }),
  rid: randomUUID(),
  deadline: Date.now() + callMs,
});

/** What has been handled before its acknowledgement was lost is refused the second time, because it is done. */
const doneBefore: ReadonlySet<string> = new Set(["actionNotCancelable", "actionClosed", "stateNotFound", "entityNotFound"]);

/**
 * Handles a message, and tries again for as long as controller or its database are away: meanwhile the messages of this thing wait, and the broker keeps
 * those that follow. Throws RefusedMessage for what will never succeed. `again` says that it may have been handled before.
 */
export async function handleMessage(
  deps: HandleDeps,
  {
    tenant,
    incoming,
    thingId,
    again,
    signal,
  }: { tenant: Tenant; incoming: Incoming; thingId: string | undefined; again: boolean; signal: AbortSignal },
): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await once(deps, tenant, { incoming, thingId });
    } catch (error) {
      if (error instanceof RefusedMessage) throw error;
      const code = error instanceof HarrierError ? error.code : "internal";
      if ((again || attempts > 1) && doneBefore.has(code)) return;
      const unexpected = code === "internal";
      if (!unexpected && !codes[code].retryable) throw new RefusedMessage("denied", `${code}: ${(error as Error).message}`);
      if (unexpected && attempts >= maxFailures) throw new RefusedMessage("failed", "the message could not be handled", error);
      await pause(backOff(attempts, retries), signal);
      if (signal.aborted) throw error;
    }
  }
}

async function once(
  deps: HandleDeps,
  tenant: Tenant,
  { incoming, thingId }: { incoming: Incoming; thingId: string | undefined },
): Promise<void> {
  const { controller } = deps;
  const call = callAs(tenant);
  switch (incoming.kind) {
    case "registration": {
      const { thingId: controllerId, replyTo, name, type, attributes } = incoming;
      const address = `amqp://${tenant.vhost}/${encodeURIComponent(replyTo)}`;
      const more = {
        ...(name === undefined ? {} : { name }),
        ...(type === undefined ? {} : { targetType: type }),
        ...(attributes === undefined ? {} : { attributes: attributesOf(attributes) }),
      };
      return void (await controller.registerThing({ controllerId, address, ...more }, call));
    }
    case "removal":
      return void (await controller.removeThing({ controllerId: incoming.thingId }, call));
    case "attributes":
      return void (await controller.updateThingAttributes(
        { controllerId: incoming.thingId, attributes: attributesOf(incoming.attributes) },
        call,
      ));
    case "auto-confirm": {
      const { thingId: controllerId, enabled, initiator, remark } = incoming;
      const texts = { ...(initiator === undefined ? {} : { initiator }), ...(remark === undefined ? {} : { remark }) };
      return void (await controller.switchThingAutoConfirm({ controllerId, enabled, ...texts }, call));
    }
    case "status": {
      if (thingId === undefined) throw new RefusedMessage("unknown-action", "there is no such action");
      const { actionId, status, messages, code, timestamp } = incoming;
      const more = { ...(code === undefined ? {} : { code }), ...(timestamp === undefined ? {} : { timestamp }) };
      return void (await controller.reportActionStatus({ controllerId: thingId, actionId, status, messages, ...more }, call));
    }
    case "ping":
      return deps.answerPing(incoming.replyTo, incoming.correlationId);
    case "ignored":
      return;
  }
}

function attributesOf({ attributes, mode }: { attributes: Readonly<Record<string, string | null>>; mode: string }) {
  const entries = Object.entries(attributes);
  const values = Object.fromEntries(entries.flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])));
  return { mode, values, nulls: entries.flatMap(([key, value]) => (value === null ? [key] : [])) };
}

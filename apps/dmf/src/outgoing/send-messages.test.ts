import type { DeviceMessage } from "@harrier/rpc";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createSender, type SendDeps } from "./send-messages.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const to = (vhost: string): DeviceMessage => ({
  tenantId: 1,
  tenant: vhost,
  vhost,
  controllerId: "t",
  exchange: "reply",
  type: "EVENT",
  topic: "DOWNLOAD_AND_INSTALL",
  body: "{}",
});

it("a virtual host that takes nothing gets the others no message twice, and is passed over after a minute", async () => {
  const published: string[] = [];
  const confirmed: string[] = [];
  const dropped: number[] = [];
  const hosts: Record<string, { publish(messages: readonly unknown[]): Promise<void> }> = {
    good: { publish: async (messages) => void published.push(...messages.map(() => "good")) },
    broken: { publish: async () => Promise.reject(new Error("403 ACCESS_REFUSED")) },
  };
  const send = createSender({
    controller: {
      readDeviceMessages: async (request: { confirmed: string }) => {
        confirmed.push(request.confirmed);
        return { leading: true, messages: [to("broken"), to("good")], position: "behind", more: false };
      },
    },
    hostOf: (vhost: string) => hosts[vhost],
    baseUrl: "http://localhost",
    count: (outcome: string, n: number) => void (outcome === "dropped" && n > 0 && dropped.push(n)),
    fault: () => undefined,
    log: { warn: () => undefined },
  } as unknown as SendDeps);
  for (const second of [0, 20, 40]) {
    vi.setSystemTime(second * 1_000);
    await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  }
  expect([published, dropped]).toEqual([["good"], []]);
  vi.setSystemTime(60_000);
  await send();
  expect([published, dropped]).toEqual([["good"], [1]]);
  await send();
  expect(confirmed).toEqual(["", "", "", "", "behind"]);
});

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

interface Asked {
  confirmed: string;
  dropped: readonly number[];
  connected: readonly number[];
}

/** A sender that reads the same page again and again, with what it asks for, publishes and counts. */
function senderOf(hosts: Readonly<Record<string, boolean>>) {
  const published: string[] = [];
  const asked: Asked[] = [];
  const counted: [string, number][] = [];
  const ids: Readonly<Record<string, number>> = { broken: 1, good: 2 };
  const publish = async (vhost: string, messages: readonly unknown[]) => {
    if (hosts[vhost] !== true) throw new Error("403 ACCESS_REFUSED");
    published.push(...messages.map(() => vhost));
  };
  const send = createSender({
    controller: {
      readDeviceMessages: async (request: Asked) => {
        asked.push(request);
        const messages = Object.keys(hosts).map((vhost) => ({ ...to(vhost), tenantId: ids[vhost] ?? 0 }));
        return { leading: true, messages, position: "behind", more: false };
      },
    },
    hostOf: (vhost: string) => ({ publish: (messages: readonly unknown[]) => publish(vhost, messages) }),
    connected: () => Object.keys(hosts).map((vhost) => ({ vhost, tenantId: ids[vhost] ?? 0 })),
    baseUrl: "http://localhost",
    count: (outcome: string, n: number) => void (n > 0 && outcome !== "sent" && counted.push([outcome, n])),
    fault: () => undefined,
    log: { warn: () => undefined },
  } as unknown as SendDeps);
  return { send, published, asked, counted };
}

it("a virtual host that takes nothing gets the others no message twice, is passed over after ten seconds, and rests", async () => {
  const { send, published, asked, counted } = senderOf({ broken: false, good: true });
  for (const second of [0, 5]) {
    vi.setSystemTime(second * 1_000);
    await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  }
  expect([published, counted]).toEqual([["good"], []]);
  vi.setSystemTime(10_000);
  await send();
  expect([published, counted]).toEqual([["good"], [["postponed", 1]]]);
  // while it rests nothing is tried, and controller learns who is behind, and who may be told again
  await send();
  expect(asked.map(({ confirmed, dropped, connected }) => [confirmed, dropped, connected])).toEqual([
    ["", [], [1, 2]],
    ["", [], [1, 2]],
    ["", [], [1, 2]],
    ["behind", [1], [2]],
  ]);
  vi.setSystemTime(120_000);
  await send();
  expect(asked.at(-1)).toMatchObject({ dropped: [1], connected: [1, 2] });
});

it("where no virtual host takes anything all wait, however long", async () => {
  const { send, counted, asked } = senderOf({ broken: false });
  for (const second of [0, 60, 600]) {
    vi.setSystemTime(second * 1_000);
    await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  }
  expect([counted, asked.at(-1)?.confirmed]).toEqual([[], ""]);
});

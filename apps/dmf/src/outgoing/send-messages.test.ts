import type { DeviceMessage } from "@harrier/rpc";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Fates, Outgoing } from "../broker/publisher.ts";
import { FullExchanges } from "./full-exchanges.ts";
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
  full: readonly object[];
  resting: readonly object[];
}

/** A sender that reads the same page again and again, with what it asks for, publishes and counts. */
function senderOf(hosts: Record<string, boolean | "full" | "away" | "blocked" | "slow">, exchanges = 1) {
  const published: string[] = [];
  const asked: Asked[] = [];
  const counted: [string, number][] = [];
  const ids: Readonly<Record<string, number>> = { broken: 1, good: 2 };
  const publish = async (vhost: string, messages: readonly Outgoing[]): Promise<Fates> => {
    if ([false, "away", "blocked"].includes(hosts[vhost] ?? false)) throw new Error("403 ACCESS_REFUSED");
    if (hosts[vhost] === "slow") vi.setSystemTime(Date.now() + 3_000);
    const { full = [], taken = messages } = Object.groupBy(messages, () => (hosts[vhost] === "full" ? "full" : "taken"));
    published.push(...(hosts[vhost] === "full" ? [] : taken).map(() => vhost));
    return { dropped: [], refused: full };
  };
  const send = createSender({
    controller: {
      readDeviceMessages: async (request: Asked) => {
        asked.push(request);
        const messages = Object.keys(hosts).flatMap((vhost) =>
          Array.from({ length: exchanges }, (_, n) => ({
            ...to(vhost),
            tenantId: ids[vhost] ?? 0,
            exchange: n === 0 ? "reply" : `reply-${n}`,
          })),
        );
        return { leading: true, messages, position: "behind", more: false };
      },
    },
    hostOf: (vhost: string) => ({
      isBlocked: hosts[vhost] === "blocked",
      publish: (messages: readonly Outgoing[]) => publish(vhost, messages),
    }),
    connected: () =>
      Object.keys(hosts)
        .filter((vhost) => hosts[vhost] !== "away")
        .map((vhost) => ({ vhost, tenantId: ids[vhost] ?? 0 })),
    cutOff: () => Object.values(hosts).every((state) => state === "away"),
    baseUrl: "http://localhost",
    caughtUp: () => undefined,
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

it("a virtual host that takes something now and then makes the others wait once, until it has been well for as long as the longest rest", async () => {
  const hosts: Record<string, boolean> = { broken: false, good: true };
  const { send, counted } = senderOf(hosts);
  await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  vi.setSystemTime(10_000);
  await send();
  for (const second of [100, 300, 700]) {
    hosts["broken"] = true;
    vi.setSystemTime(second * 1_000);
    await send();
    hosts["broken"] = false;
    await send();
  }
  expect(counted).toEqual([1, 2, 3, 4].map(() => ["postponed", 1]));
  hosts["broken"] = true;
  vi.setSystemTime(2_000_000);
  await send();
  hosts["broken"] = false;
  await expect(send()).rejects.toThrow("ACCESS_REFUSED");
});

it("where no virtual host takes anything all wait, however long", async () => {
  const { send, counted, asked } = senderOf({ broken: false });
  for (const second of [0, 60, 120, 600]) {
    vi.setSystemTime(second * 1_000);
    await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  }
  expect([counted, asked.at(-1)?.confirmed]).toEqual([[], ""]);
});

it("while the broker is out of memory or disk all wait, and go on at once when it has room, others connected or not", async () => {
  const hosts: Record<string, boolean | "blocked"> = { broken: "blocked", good: true };
  const { send, counted, published, asked } = senderOf(hosts);
  for (const second of [0, 10]) {
    vi.setSystemTime(second * 1_000);
    await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  }
  hosts["broken"] = true;
  await send();
  expect([counted, published, asked.at(-1)?.dropped]).toEqual([[], ["good", "broken"], []]);
});

it("a leading replica that is connected, and has nothing taken, lets the lease lapse now and then", async () => {
  const hosts: Record<string, boolean> = { broken: false };
  const { send, asked, published } = senderOf(hosts);
  for (const second of [0, 8, 16, 24]) {
    vi.setSystemTime(second * 1_000);
    await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  }
  // for longer than a lease lasts
  for (const second of [25, 43]) {
    vi.setSystemTime(second * 1_000);
    expect(await send()).toBe(false);
  }
  expect(asked).toHaveLength(4);
  hosts["broken"] = true;
  vi.setSystemTime(45_000);
  await send();
  expect([asked.length, published]).toEqual([5, ["broken"]]);
});

it("after an outage of all of them a virtual host that is the last to be connected again is waited for like any other", async () => {
  const hosts: Record<string, boolean | "away"> = { broken: "away", good: "away" };
  const { send, counted, published } = senderOf(hosts);
  for (const second of [0, 60]) {
    vi.setSystemTime(second * 1_000);
    await send();
  }
  hosts["good"] = true;
  vi.setSystemTime(61_000);
  await expect(send()).rejects.toThrow("ACCESS_REFUSED");
  hosts["broken"] = true;
  vi.setSystemTime(62_000);
  await send();
  expect([counted, published.toSorted()]).toEqual([[], ["broken", "good"]]);
});

it("a virtual host that takes everything, but slowly, rests when others have waited for ten seconds, and is told again", async () => {
  const hosts: Record<string, boolean | "slow"> = { broken: "slow", good: true };
  const { send, asked, published, counted } = senderOf(hosts);
  for (const _ of [1, 2, 3, 4]) await send();
  expect([published.filter((vhost) => vhost === "broken").length, counted]).toEqual([4, []]);
  await send();
  expect(asked.at(-1)).toMatchObject({ connected: [2], dropped: [] });
  expect([published.at(-1), counted]).toEqual(["good", [["postponed", 1]]]);
  await send();
  expect(asked.at(-1)).toMatchObject({ connected: [2], dropped: [1] });
  hosts["broken"] = true;
  vi.setSystemTime(Date.now() + 31_000);
  await send();
  expect(asked.at(-1)).toMatchObject({ connected: [1, 2] });
  expect(published.slice(-2).toSorted()).toEqual(["broken", "good"]);
});

it("a replica that has no virtual host connected does not ask, so that its lease lapses and another one sends", async () => {
  const hosts: Record<string, boolean | "away"> = { broken: "away", good: "away" };
  const { send, asked, published } = senderOf(hosts);
  expect([await send(), asked]).toEqual([false, []]);
  hosts["good"] = hosts["broken"] = true;
  await send();
  expect([asked.length, published.toSorted()]).toEqual([1, ["broken", "good"]]);
});

it("messages of a full queue wait with the position, which goes on, and are told again when they have rested", async () => {
  const hosts: Record<string, boolean | "full"> = { broken: "full", good: true };
  const { send, published, asked, counted } = senderOf(hosts);
  await send();
  expect([published, counted]).toEqual([["good"], [["postponed", 1]]]);
  // while it rests it is not tried, its exchange alone is behind, and the other one gets what it shall
  await send();
  const exchange = { tenantId: 1, exchange: "reply" };
  expect(asked.at(-1)).toMatchObject({ confirmed: "behind", dropped: [], connected: [1, 2], full: [exchange], resting: [exchange] });
  expect([published, counted]).toEqual([
    ["good", "good"],
    [
      ["postponed", 1],
      ["postponed", 1],
    ],
  ]);
  hosts["broken"] = true;
  vi.setSystemTime(120_000);
  await send();
  expect([asked.at(-1), published.toSorted()]).toEqual([
    expect.objectContaining({ connected: [1, 2], resting: [] }),
    ["broken", "good", "good", "good"],
  ]);
});

it("with more full exchanges than are known one by one a virtual host is behind as a whole, and those known rest by themselves", () => {
  const full = new FullExchanges();
  const places = Array.from({ length: 25 }, (_, n) => ({ tenantId: 1, vhost: "many", exchange: `reply-${n}` }));
  expect(full.refuse(places, 0)).toHaveLength(25);
  expect(full.resting(1)).toHaveLength(21);
  expect(full.resting(1)).toContainEqual({ tenantId: 1, exchange: "" });
  expect(places.map((place) => full.rests(place, 1)).filter(Boolean)).toHaveLength(20);
  full.forgetQuiet(3_600_000);
  expect(full.resting(1)).toEqual([]);
});

it("known exchanges go on being caught up while others of their tenant, that are not known one by one, are refused", async () => {
  const hosts: Record<string, boolean | "full"> = { broken: "full" };
  const { send, asked } = senderOf(hosts, 25);
  await send();
  await send();
  expect(asked.at(-1)).toMatchObject({ connected: [1], dropped: [1] });
  expect(asked.at(-1)?.resting).toContainEqual({ tenantId: 1, exchange: "" });
});

it("a queue that has room now and then rests ever longer, until it has taken all for as long as the longest rest", async () => {
  const hosts: Record<string, boolean | "full"> = { broken: "full" };
  const { send, published } = senderOf(hosts);
  const at = async (second: number, state: boolean | "full"): Promise<number> => {
    hosts["broken"] = state;
    vi.setSystemTime(second * 1_000);
    const before = published.length;
    await send();
    return published.length - before;
  };
  await at(0, "full");
  expect(await at(8, true)).toBe(1);
  await at(9, "full");
  // the second rest is longer than the first, although a message was taken between them
  expect(await at(15, true)).toBe(0);
  expect(await at(25, true)).toBe(1);
  // after ten minutes without a refusal it is like any other queue
  await at(700, true);
  await at(701, "full");
  expect(await at(709, true)).toBe(1);
});

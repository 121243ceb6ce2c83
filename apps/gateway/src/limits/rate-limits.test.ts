import type { Route } from "@harrier/contracts";
import { beforeEach, describe, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { RateCounters } from "./rate-counters.ts";
import { kindOf, RateLimits, type RequestKind } from "./rate-limits.ts";

describe("counters", () => {
  const counters = new RateCounters({ size: 1_024 });
  const fill = (key: number, limit: number, now: number) => {
    let taken = 0;
    while (counters.take(key, limit, now)) taken += 1;
    return taken;
  };

  test("a window lasts a second from its first request", () => {
    const key = counters.keyOf("203.0.113.7", 0);
    expect(fill(key, 200, 10_500)).toBe(200);
    expect(counters.take(key, 200, 11_499)).toBe(false);
    expect(fill(key, 200, 11_500)).toBe(200);
  });

  test("a clock that is set back blocks no client", () => {
    const key = counters.keyOf("back", 0);
    expect(fill(key, 5, 900_000)).toBe(5);
    expect(fill(key, 5, 100_000)).toBe(5);
  });

  test("keys of a text in different groups differ, and requests that were not served are subtracted", () => {
    const [a, b] = [counters.keyOf("x", 0), counters.keyOf("x", 1)];
    expect(fill(a, 3, 50_000)).toBe(3);
    expect(fill(b, 3, 50_000)).toBe(3);
    counters.release(a, 50_000);
    expect([fill(a, 3, 50_000), fill(b, 3, 50_000)]).toEqual([1, 0]);
  });

  test("a flood of new keys grows no memory, limits no other key, and the flooding one stays limited", () => {
    const busy = counters.keyOf("busy", 0);
    fill(busy, 100, 70_000);
    let refused = 0;
    for (let n = 0; n < 100_000; n++) if (!counters.take(counters.keyOf(`flood-${n}`, 0), 2, 70_001)) refused += 1;
    expect(refused).toBe(0);
    expect(counters.take(busy, 100, 70_001)).toBe(false);
  });
});

/** These are no limits, for the interfaces that a case does not test. */
const others = { user: { reads: 0, writes: 0 }, users: { reads: 0, writes: 0 }, bytes: { device: 0, tenant: 0 } };

describe("limits of the device interface", () => {
  const rates = (reads: number) => ({ reads, writes: 2, downloads: 1_000 });
  let limits: RateLimits;
  beforeEach(() => {
    limits = new RateLimits({ address: rates(10), device: rates(6), tenant: rates(14), ...others, exempt: new AddressList("127.0.0.0/8") });
  });
  const ask = (address: string, controllerId: string, { tenantId = 1, kind = "reads" as RequestKind } = {}) => {
    const request = { address, hidden: false, kind, now: 1_000 };
    if (!limits.admitsAddress(request)) return "address";
    const principal = { tenantId, tenant: `T${tenantId}`, kind: "device", subject: "", controllerId, permissions: [] } as const;
    return limits.admitsDevice(request, principal) ? "served" : "device or tenant";
  };
  const served = (times: number, ...[address, id, more]: Parameters<typeof ask>) =>
    Array.from({ length: times }, () => ask(address, id, more)).filter((answer) => answer === "served").length;

  test("an address has a limit", () => {
    expect(served(5, "a", "d1") + served(5, "a", "d2")).toBe(10);
    expect(ask("a", "d3")).toBe("address");
    expect(ask("b", "d3")).toBe("served");
  });

  test("a device has a limit, and its neighbours behind the same address are served", () => {
    expect(served(100, "a", "d1")).toBe(6);
    expect(ask("a", "d1")).toBe("device or tenant");
    expect(served(4, "a", "d2")).toBe(4);
    expect(ask("b", "d1")).toBe("device or tenant");
    expect(ask("b", "d1", { tenantId: 2 })).toBe("served");
  });

  test("a tenant has a limit, and the others are served", () => {
    expect(served(6, "a", "d1") + served(6, "b", "d2") + served(6, "c", "d3")).toBe(14);
    expect(served(6, "a", "d1", { tenantId: 2 })).toBe(4);
  });

  test("writes and downloads have counters of their own", () => {
    expect(served(100, "a", "d1")).toBe(6);
    expect(served(100, "a", "d1", { kind: "writes" })).toBe(2);
    expect(served(5_000, "a", "d1", { kind: "downloads" })).toBe(1_000);
  });

  test("an exempt address has no limit, and 0 means no limit", () => {
    expect(served(500, "127.0.0.1", "d1")).toBe(500);
    const none = { reads: 0, writes: 0, downloads: 0 };
    limits = new RateLimits({ address: none, device: none, tenant: none, ...others, exempt: new AddressList("none") });
    expect(served(500, "127.0.0.1", "d1")).toBe(500);
  });

  test("a client that an exempt proxy hides is not exempt", () => {
    const hidden = { address: "127.0.0.1", hidden: true, kind: "reads", now: 1_000 } as const;
    expect(Array.from({ length: 11 }, () => limits.admitsAddress(hidden)).filter(Boolean)).toHaveLength(10);
    expect(limits.admitsAddress({ ...hidden, hidden: false })).toBe(true);
  });

  test("an IPv6 network of 64 bits is one client", () => {
    const network = Array.from({ length: 20 }, (_, n) => `2001:db8:0:7::${n.toString(16)}`);
    expect(network.filter((address, n) => ask(address, `d${n}`) === "served")).toHaveLength(10);
    expect(ask("2001:db8:0:7:1:2:3:4", "other")).toBe("address");
    expect(ask("2001:db8:0:8::1", "other")).toBe("served");
  });

  test("HEAD is a write, and every request to an artifact is a download", () => {
    const poll = { method: "GET" } as Route;
    expect([kindOf(poll, "GET"), kindOf(poll, "HEAD"), kindOf({ method: "POST" } as Route, "POST")]).toEqual(["reads", "writes", "writes"]);
    expect(kindOf({ credential: "download" } as Route, "HEAD")).toBe("downloads");
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FleetOptions, type FleetReport, runFleet } from "./index.ts";
import { file, TinyServer } from "./tiny-server.fixture.ts";

let server: TinyServer;
beforeEach(async () => {
  server = new TinyServer();
  await server.start();
});
afterEach(() => server.stop());

const devicesOf = (count: number) => Array.from({ length: count }, (_, i) => ({ controllerId: `d${i}`, token: `t${i}` }));

async function runUntilEnded(options: Partial<FleetOptions> = {}, count = 5): Promise<FleetReport> {
  const fleet = runFleet({ baseUrl: server.url, tenant: "T", devices: devicesOf(count), pollSeconds: 0.05, fail: 0, ...options });
  await vi.waitFor(() => expect(fleet.report().finals).toHaveLength(count), 20_000);
  return await fleet.stop();
}

describe("fleet", { timeout: 60_000 }, () => {
  it("polls, downloads in pieces, checks, and reports to the end", async () => {
    const report = await runUntilEnded({ rangePieces: 3 });
    expect(report).toMatchObject({ devices: 5, downloads: 5, bytes: 5 * file.length, violations: [], failures: {}, retries: 0 });
    expect(new Set(server.closed.values())).toEqual(new Set(["success"]));
    expect(server.seen.filter((line) => line.startsWith("GET d0 file"))).toEqual([
      "GET d0 file bytes=0-99999",
      "GET d0 file bytes=100000-199999",
      "GET d0 file bytes=200000-299999",
    ]);
    expect(server.seen.filter((line) => line.startsWith("POST d0"))).toHaveLength(4);
  });

  it("fetches without a range on request", async () => {
    await runUntilEnded({ rangePieces: 1 }, 1);
    expect(server.seen).toContain("GET d0 file");
  });

  it("lets the same devices fail with the same seed, about as many as requested", async () => {
    const failed = async (seed: number): Promise<string[]> => {
      server.closed.clear();
      const { finals } = await runUntilEnded({ fail: 0.5, seed, rangePieces: 1 }, 30);
      return finals
        .filter((final) => final.outcome === "failure")
        .map((final) => final.controllerId)
        .sort();
    };
    const first = await failed(7);
    expect(first.length).toBeGreaterThan(7);
    expect(first.length).toBeLessThan(23);
    expect(await failed(7)).toEqual(first);
    expect(await failed(8)).not.toEqual(first);
  });

  it("shows the version from before after a fall-back, and the new one otherwise", async () => {
    server.asks = true;
    const shownLast = async (fallBack: number): Promise<(string | undefined)[]> => {
      server.closed.clear();
      server.shown.clear();
      const fleet = runFleet({
        baseUrl: server.url,
        tenant: "T",
        devices: devicesOf(6),
        pollSeconds: 0.05,
        fail: 0,
        rangePieces: 1,
        fallBack,
      });
      await vi.waitFor(() => expect([...server.shown.values()].filter((all) => all.at(-1) !== "none")).toHaveLength(6), 20_000);
      await fleet.stop();
      // All of them reported success.
      expect(new Set(server.closed.values())).toEqual(new Set(["success"]));
      return [...server.shown.values()].map((all) => all.at(-1));
    };
    expect(new Set(await shownLast(0))).toEqual(new Set(["1"]));
    expect(new Set(await shownLast(1))).toEqual(new Set(["0"]));
    expect(new Set(await shownLast(0.5))).toEqual(new Set(["0", "1"]));
  });

  it.each([
    ["fetch", (lines: string[]) => lines.some((line) => line.includes("deploymentBase"))],
    ["download", (lines: string[]) => lines.some((line) => line.includes("file") || line.startsWith("POST"))],
    ["install", () => server.closed.has("d0")],
    ["reboot", () => !server.closed.has("d0")],
  ] as const)("makes no request any more once it is silent at %s", async (silentAt, wrong) => {
    server.asks = true;
    const common = { baseUrl: server.url, tenant: "T", pollSeconds: 0.05, fail: 0, rangePieces: 1, silentAt };
    const [d0, d1] = devicesOf(2).map((device) => [device]);
    const fleets = [runFleet({ ...common, devices: d0 ?? [], silent: 1 }), runFleet({ ...common, devices: d1 ?? [] })];
    const of = (device: string) => server.seen.filter((line) => line.split(" ")[1] === device);
    await vi.waitFor(() => expect(of("d0").length).toBeGreaterThan(0), 20_000);
    // The other one polls on for long, and tells how much time has passed.
    const from = of("d1").length;
    await vi.waitFor(() => expect(of("d1").length).toBeGreaterThan(from + 40), 20_000);
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    expect(of("d0").length).toBeLessThan(12);
    expect(wrong(of("d0"))).toBe(false);
    expect(server.closed.get("d1")).toBe("success");
  });

  it("fails once with code 503 where it is flaky, with the given code where it fails for good, and without one otherwise", async () => {
    const endOf = async (options: Partial<FleetOptions>) => {
      server.closed.clear();
      server.ends.length = 0;
      const { finals } = await runUntilEnded({ rangePieces: 1, ...options }, 1);
      return [finals[0]?.outcome, server.ends[0]];
    };
    expect(await endOf({ flaky: 1 })).toEqual(["failure", { device: "d0", code: 503 }]);
    expect(await endOf({ fail: 1, failCode: 42 })).toEqual(["failure", { device: "d0", code: 42 }]);
    expect(await endOf({ fail: 1 })).toEqual(["failure", { device: "d0" }]);
    // Its next update, by another action, succeeds.
    server.closed.clear();
    server.ends.length = 0;
    server.retries = true;
    const fleet = runFleet({
      baseUrl: server.url,
      tenant: "T",
      devices: devicesOf(1),
      pollSeconds: 0.05,
      fail: 0,
      rangePieces: 1,
      flaky: 1,
    });
    await vi.waitFor(() => expect(server.ends).toHaveLength(2), 20_000);
    await fleet.stop();
    expect(server.ends).toEqual([{ device: "d0", code: 503 }, { device: "d0" }]);
  });

  it("repeats unanswered requests, and accepts 410 for a repeated report that was processed", async () => {
    const attempts = new Map<string, number>();
    server.disturb = (req, res) => {
      const what = `${req.method} ${req.url} ${req.headers.range}`;
      const nth = (attempts.get(what) ?? 0) + 1;
      attempts.set(what, nth);
      if (nth > 2) return false;
      if (nth === 1) req.socket.destroy();
      else res.writeHead(attempts.size % 2 === 0 ? 503 : 429).end();
      return true;
    };
    const report = await runUntilEnded({ rangePieces: 2 }, 2);
    expect(report.violations).toEqual([]);
    expect(report.retries).toBeGreaterThan(5);
    expect(report.finals.map((final) => final.outcome)).toEqual(["success", "success"]);
  });

  it("counts a final report whose answer was lost", async () => {
    let lost = 0;
    const { closed } = server;
    server.disturb = (req, _res) => {
      if (!req.url?.endsWith("/feedback") || closed.size > 0 || lost > 0) return false;
      if (server.seen.filter((line) => line.startsWith("POST")).length < 4) return false;
      lost += 1;
      closed.set("d0", "success"); // the report is processed …
      req.socket.destroy(); // … and never answered
      return true;
    };
    const report = await runUntilEnded({}, 1);
    expect(lost).toBe(1);
    expect(report.finals).toMatchObject([{ controllerId: "d0", outcome: "success" }]);
  });

  it("does not count an action that another client closed", async () => {
    server.disturb = (req) => {
      if (req.url?.endsWith("/feedback") && server.seen.filter((line) => line.startsWith("POST")).length === 4)
        server.closed.set("d0", "forced");
      return false;
    };
    expect((await runUntilEnded({}, 1)).finals).toMatchObject([{ outcome: "gone" }]);
  });

  it("confirms a cancellation", async () => {
    server.cancelling.add("d0");
    expect((await runUntilEnded({}, 1)).finals).toMatchObject([{ outcome: "cancelled" }]);
    expect(server.closed.get("d0")).toBe("cancelled");
  });

  it("reports a wrong hash as a violation, and does not install", async () => {
    server.hashes = { ...server.hashes, sha256: "00" };
    const devices = [{ controllerId: "d0", token: "t" }];
    const fleet = runFleet({ baseUrl: server.url, tenant: "T", devices, pollSeconds: 0.05 });
    await vi.waitFor(() => expect(fleet.report().violations.length).toBeGreaterThan(0), 5_000);
    const report = await fleet.stop();
    expect(report.violations[0]).toContain("sha256");
    expect(report.finals).toEqual([]);
  });

  it("continues where a piece broke off", async () => {
    let broken = false;
    server.disturb = (req, res) => {
      if (broken || !req.url?.endsWith("/file")) return false;
      broken = true;
      res.writeHead(200, { "content-length": file.length });
      res.write(file.subarray(0, 120_000), () => req.socket.destroy());
      return true;
    };
    const report = await runUntilEnded({ rangePieces: 1 }, 1);
    expect(report.violations).toEqual([]);
    expect(report.finals).toMatchObject([{ outcome: "success" }]);
    expect(server.seen.some((line) => /GET d0 file bytes=\d+-299999/.test(line))).toBe(true);
  });

  it("signs in a fleet of unknown devices with the gateway token", async () => {
    const tokens = new Set<string | undefined>();
    server.disturb = (req) => {
      tokens.add(req.headers.authorization);
      return false;
    };
    await runUntilEnded({ devices: { count: 12, prefix: "sim", gatewayToken: "g" } }, 12);
    expect([...tokens]).toEqual(["GatewayToken g"]);
    expect([...server.closed.keys()].sort()[11]).toBe("sim-000011");
  });
});

import type pg from "pg";
import { describe, expect, it } from "vitest";
import { type ReadFrom, Standby } from "./standby.ts";

/** Servers whose positions the test sets; each question is answered when the test says so. */
function servers() {
  const at = { written: 10, replayed: 10 };
  const asked = { primary: 0, standby: 0 };
  const stops = { standby: false };
  const pool = (name: "primary" | "standby") =>
    ({
      query: async () => {
        asked[name] += 1;
        if (name === "standby" && stops.standby) return new Promise(() => undefined);
        return { rows: [{ position: String(name === "primary" ? at.written : at.replayed) }] };
      },
    }) as unknown as pg.Pool;
  const seen: ReadFrom[] = [];
  const [primary, standby] = [pool("primary"), pool("standby")];
  return { at, asked, stops, seen, primary, standby, reader: new Standby({ primary, standby, onRead: (from) => seen.push(from) }) };
}

describe("Standby", () => {
  it("is read when it is where the primary is, and asked once for each request", async () => {
    const { reader, standby, asked } = servers();
    const request = {};
    expect(await reader.poolFor(request)).toBe(standby);
    expect(await reader.poolFor(request)).toBe(standby);
    expect(asked).toEqual({ primary: 1, standby: 1 });
  });

  it("shares the questions of requests that come together", async () => {
    const { reader, asked } = servers();
    await Promise.all(Array.from({ length: 50 }, () => reader.poolFor({})));
    expect(asked.primary).toBeLessThanOrEqual(2);
    expect(asked.standby).toBeLessThanOrEqual(2);
  });

  it("is waited for while it catches up", async () => {
    const { reader, standby, at } = servers();
    at.written = 20;
    setTimeout(() => {
      at.replayed = 20;
    }, 20);
    expect(await reader.poolFor({})).toBe(standby);
  });

  it("leaves requests to the primary while it is behind, and those that follow are not held up", async () => {
    const { reader, primary, at, asked, seen } = servers();
    at.written = 20;
    expect(await reader.poolFor({})).toBe(primary);
    const before = asked.standby;
    expect(await reader.poolFor({})).toBe(primary);
    expect(asked.standby).toBe(before);
    expect(seen).toEqual(["behind", "behind"]);
  });

  it("leaves requests to the primary when it does not answer", async () => {
    const { reader, primary, stops, seen } = servers();
    stops.standby = true;
    expect(await reader.poolFor({})).toBe(primary);
    expect(seen).toEqual(["unreachable"]);
  });

  it("leaves the rest of a request to the primary when a reading was refused or lost there, and other errors to the caller", async () => {
    const { reader, primary, standby } = servers();
    const [refused, lost, wrong] = [{}, {}, {}];
    for (const request of [refused, lost, wrong]) await reader.poolFor(request);
    expect(reader.gaveUp(wrong, standby, Object.assign(new Error("no such column"), { code: "42703" }))).toBe(false);
    expect(await reader.poolFor(wrong)).toBe(standby);
    expect(reader.gaveUp(refused, standby, Object.assign(new Error("read-only transaction"), { code: "25006" }))).toBe(true);
    expect(await reader.poolFor(refused)).toBe(primary);
    expect(await reader.poolFor({})).toBe(standby);
    expect(reader.gaveUp(lost, standby, Object.assign(new Error("reset"), { code: "ECONNRESET" }))).toBe(true);
    expect(await reader.poolFor({})).toBe(primary);
    expect(reader.gaveUp(lost, primary, new Error("Connection terminated"))).toBe(false);
  });
});

import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, someBytes, unique } from "../support/build.ts";
import { type Device, device } from "../support/device.ts";
import { type Answer, trustsUs } from "../support/http.ts";
import { eventually, forEach } from "../support/wait.ts";

let last = 0;
/** Makes the address of a client that has not sent anything yet. */
const somebody = () => ({ "x-forwarded-for": `203.0.113.${100 + last++}` });
type Client = ReturnType<typeof somebody>;

const poll = (d: Device, headers: Client, method = "GET") => d.ask(r.device.poll, {}, { headers, method });

/** Sends many requests, a few at a time, and counts the answers by status. */
async function statuses(times: number, ask: () => Promise<Answer>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  await forEach(
    Array.from({ length: times }),
    async () => {
      const { status, text, headers } = await ask();
      counts[status] = (counts[status] ?? 0) + 1;
      if (status === 429) expect([text, headers["retry-after"], headers["content-length"]]).toEqual(["", "1", "0"]);
    },
    24,
  );
  return counts;
}

/** Sends requests until one is denied: on a busy machine the first ones may be too slow for that. */
const untilRefused = (times: number, ask: () => Promise<Answer>): Promise<Record<number, number>> =>
  eventually(async () => {
    const counts = await statuses(times, ask);
    return (counts[429] ?? 0) > 0 && counts;
  });

describe.runIf(trustsUs)("rate limits of the device interface", () => {
  it("device 13.95 more than 200 reads a second are 429 for this address only, and only until the second is over", async () => {
    const d = device(unique("rates"));
    const [one, other] = [somebody(), somebody()];
    // A request without a credential is cheap, so that enough of them fit into a second; it is counted like any other.
    const guess = () => poll(device(d.controllerId, { auth: null }), one);
    const refused = await eventually(async () => {
      const counts = await statuses(500, guess);
      expect(counts[401]).toBeGreaterThanOrEqual(200);
      return (await poll(d, one)).status === 429 && counts;
    });
    expect(Object.keys(refused)).toEqual(["401", "429"]);
    expect((await poll(d, other)).status).toBe(200);
    await eventually(async () => (await poll(d, one)).status === 200, 20_000);
  });

  it("device 13.95 more than 50 writes a second, HEAD among them, are 429, while reads go on", async () => {
    const d = device(unique("rates"));
    const client = somebody();
    const counts = await untilRefused(200, () => poll(d, client, "HEAD"));
    expect(Object.keys(counts)).toEqual(["200", "429"]);
    expect(counts[200]).toBeGreaterThanOrEqual(50);
    await untilRefused(100, () => d.ask(r.device.configData, {}, { headers: client, body: { data: { a: "b" } } }));
    expect((await poll(d, client)).status).toBe(200);
  });

  it("device 9.7 one device that exceeds its writes from many addresses does not limit another one", async () => {
    const [busy, quiet] = [device(unique("busy")), device(unique("quiet"))];
    await eventually(async () => {
      const clients = [somebody(), somebody(), somebody()];
      const requested = await Promise.all(clients.map((client) => statuses(45, () => poll(busy, client, "HEAD"))));
      const refused = requested.some((counts) => (counts[429] ?? 0) > 0);
      for (const client of clients) expect((await poll(quiet, client, "HEAD")).status).toBe(200);
      return refused;
    });
  });

  it("device 9.7 thousands of small ranges do not reach the limit", async () => {
    const { set, moduleId, artifact } = await build.setWithArtifact(someBytes(4_000));
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    const file = { softwareModuleId: moduleId, fileName: artifact.providedFilename };
    const headers = { ...somebody(), range: "bytes=100-139" };
    const counts = await statuses(2_000, () => device(controllerId).ask(r.device.artifact, file, { headers }));
    expect(counts).toEqual({ 206: 2_000 });
  });

  it("device 9.7 loopback addresses are never limited", async () => {
    const d = device(unique("here"));
    expect(await statuses(400, () => d.ask(r.device.poll, {}, { method: "HEAD" }))).toEqual({ 200: 400 });
  });
});

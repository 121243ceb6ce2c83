import { HarrierError } from "@harrier/errors";
import { describe, expect, it, vi } from "vitest";
import { type BufferedDownload, DownloadBuffer } from "./download-buffer.ts";

const limits = { everyMs: 20, batch: 3, waiting: 5, timeoutMs: 400, giveUpMs: 1_000, stopMs: 300 };
const download = (actionId: number): BufferedDownload => ({ tenantId: 1, actionId, path: "/p", at: 0 });

type Send = (buffer: readonly BufferedDownload[], commandId: string) => Promise<void>;

function create(send: Send, now: () => number = Date.now) {
  const dropped: number[] = [];
  const buffer = new DownloadBuffer({ send, onDropped: (count) => dropped.push(count), now }, limits);
  return { buffer, dropped };
}

/** Creates a controller that answers each call only when the test says so. */
function heldController() {
  const calls: { ids: number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const send: Send = (batch) =>
    new Promise((resolve, reject) => calls.push({ ids: batch.map((n) => n.actionId), answer: resolve, fail: reject }));
  return { calls, send };
}

/** Logs the downloads that may begin, in order. */
function watch(): { log: string[]; add: (buffer: DownloadBuffer, id: number) => void } {
  const log: string[] = [];
  return { log, add: (buffer, id) => void buffer.add(download(id)).then(() => log.push(`download ${id}`)) };
}

describe("a download buffer", () => {
  it("lets a download begin only after its record is written", async () => {
    const { calls, send } = heldController();
    const { buffer } = create(send);
    const { log, add } = watch();
    add(buffer, 1);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    expect(log).toEqual([]);
    calls[0]?.answer();
    await vi.waitFor(() => expect(log).toEqual(["download 1"]));
  });

  it("collects records while a batch is written, and each download waits for its own record", async () => {
    const { calls, send } = heldController();
    const { buffer } = create(send);
    const { log, add } = watch();
    add(buffer, 1);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    for (const id of [2, 3, 4, 5]) add(buffer, id);
    calls[0]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    expect([calls[1]?.ids, log]).toEqual([[2, 3, 4], ["download 1"]]);
    calls[1]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(3));
    expect(log).toEqual(["download 1", "download 2", "download 3", "download 4"]);
    calls[2]?.answer();
    await vi.waitFor(() => expect(log).toHaveLength(5));
  });

  it("records downloads that come shortly after one another with one command", async () => {
    const sizes: number[] = [];
    const { buffer } = create(async (batch) => void sizes.push(batch.length));
    await buffer.add(download(0));
    await Promise.all([buffer.add(download(1)), buffer.add(download(2))]);
    expect(sizes).toEqual([1, 2]);
  });

  it("repeats a batch under the same command id while controller is down, and downloads do not wait", async () => {
    const ids: string[] = [];
    const { buffer, dropped } = create(async (_batch, commandId) => {
      ids.push(commandId);
      if (ids.length < 3) throw new HarrierError("unavailable");
    });
    await buffer.add(download(1));
    await buffer.add(download(2));
    expect(ids).toHaveLength(1);
    await vi.waitFor(() => expect(ids).toHaveLength(4), 5_000);
    expect(new Set(ids).size).toBe(2);
    expect(dropped).toEqual([]);
    await buffer.stop();
  });

  it("delays downloads only briefly while controller hangs, and waits for records again after it answers", async () => {
    const { calls, send } = heldController();
    const { buffer } = create(send);
    const began = Date.now();
    // the first batch is being written, and the third download would be in the next one
    const [first, second] = [buffer.add(download(1)), buffer.add(download(2))];
    await Promise.all([first, second, vi.waitFor(() => expect(calls).toHaveLength(1)).then(() => buffer.add(download(3)))]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(limits.timeoutMs - 10);
    await buffer.add(download(4)); // the buffer knows by now that controller is late
    expect(calls).toHaveLength(1);
    calls[0]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    const { log, add } = watch();
    add(buffer, 5);
    expect(calls[1]?.ids).toEqual([3, 4]);
    calls[1]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(3));
    expect(log).toEqual([]);
    calls[2]?.answer();
    await vi.waitFor(() => expect(log).toEqual(["download 5"]));
  });

  it("drops records that controller refuses, that wait too long, or that do not fit", async () => {
    let now = 0;
    const { buffer, dropped } = create(
      async () => {
        now += 600;
        throw new HarrierError("unavailable");
      },
      () => now,
    );
    await buffer.add(download(0));
    const rest = Array.from({ length: 6 }, (_, i) => buffer.add(download(i)));
    expect(dropped).toEqual([1]); // one record is on its way, and five wait
    await Promise.all(rest);
    await vi.waitFor(() => expect(dropped).toEqual([1, 1, 3, 2]), 5_000);
    await buffer.stop();
    const refused = create(async () => {
      throw new HarrierError("insufficientPermission");
    });
    await refused.buffer.add(download(1));
    await refused.buffer.stop();
    expect(refused.dropped).toEqual([1]);
  });

  it("writes waiting records when the service stops, but does not wait for an absent controller", async () => {
    const sent: number[] = [];
    const { buffer } = create(async (batch) => void sent.push(batch.length));
    const all = Array.from({ length: 5 }, (_, i) => buffer.add(download(i)));
    await buffer.stop();
    await Promise.all(all);
    expect(sent).toEqual([3, 2]);
    const absent = create(async () => {
      throw new HarrierError("unavailable");
    });
    void absent.buffer.add(download(1));
    await absent.buffer.stop();
    expect(absent.dropped).toEqual([1]);
  });

  it("delays a download only briefly when several slow batches are ahead of it", async () => {
    const { buffer } = create(() => new Promise((resolve) => setTimeout(resolve, limits.timeoutMs * 0.9)));
    const began = Date.now();
    await buffer.add(download(0)); // downloads that come now wait for this batch first
    const rest = Array.from({ length: 5 }, (_, i) => buffer.add(download(i)));
    const behind = Date.now();
    await Promise.all(rest);
    expect(behind - began).toBeGreaterThanOrEqual(limits.timeoutMs * 0.9 - 10);
    expect(Date.now() - behind).toBeLessThan(limits.timeoutMs * 1.7); // three batches would take 2.7 times as long
    await buffer.stop();
  });

  it("drops the waiting records with one log line if controller hangs when the service stops", async () => {
    const { send } = heldController();
    const { buffer, dropped } = create(send);
    const all = Array.from({ length: 6 }, (_, i) => buffer.add(download(i)));
    const began = Date.now();
    await buffer.stop();
    await Promise.all(all);
    expect(Date.now() - began).toBeLessThan(limits.stopMs + 500);
    expect(dropped).toEqual([3]); // the other three are on their way
  });

  it("reports all records that do not fit within an interval in one call", async () => {
    let now = 0;
    const { send } = heldController();
    const { buffer, dropped } = create(send, () => now);
    for (let i = 0; i < 50; i++) void buffer.add(download(i));
    expect(dropped).toEqual([1]);
    now += 10_000;
    void buffer.add(download(50));
    expect(dropped).toEqual([1, 42]); // three records are on their way, and five wait
    await buffer.stop();
  });
});

import { HarrierError } from "@harrier/errors";
import { describe, expect, it, vi } from "vitest";
import { type DownloadNote, DownloadNotes } from "./download-notes.ts";

const limits = { everyMs: 20, batch: 3, waiting: 5, timeoutMs: 400, giveUpMs: 1_000, stopMs: 300 };
const note = (actionId: number): DownloadNote => ({ tenantId: 1, actionId, path: "/p", at: 0 });

type Send = (notes: readonly DownloadNote[], commandId: string) => Promise<void>;

function create(send: Send, now: () => number = Date.now) {
  const dropped: number[] = [];
  const notes = new DownloadNotes({ send, onDropped: (count) => dropped.push(count), now }, limits);
  return { notes, dropped };
}

/** A controller that answers when it is told to. */
function heldController() {
  const calls: { ids: number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const send: Send = (batch) =>
    new Promise((resolve, reject) => calls.push({ ids: batch.map((n) => n.actionId), answer: resolve, fail: reject }));
  return { calls, send };
}

/** What has been let go so far, in order. */
function watch(): { log: string[]; add: (notes: DownloadNotes, id: number) => void } {
  const log: string[] = [];
  return { log, add: (notes, id) => void notes.add(note(id)).then(() => log.push(`download ${id}`)) };
}

describe("download notes", () => {
  it("let a download begin once its note is written, and not before", async () => {
    const { calls, send } = heldController();
    const { notes } = create(send);
    const { log, add } = watch();
    add(notes, 1);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    expect(log).toEqual([]);
    calls[0]?.answer();
    await vi.waitFor(() => expect(log).toEqual(["download 1"]));
  });

  it("gather while one batch is written; each download waits for its own", async () => {
    const { calls, send } = heldController();
    const { notes } = create(send);
    const { log, add } = watch();
    add(notes, 1);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    for (const id of [2, 3, 4, 5]) add(notes, id);
    calls[0]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    expect([calls[1]?.ids, log]).toEqual([[2, 3, 4], ["download 1"]]);
    calls[1]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(3));
    expect(log).toEqual(["download 1", "download 2", "download 3", "download 4"]);
    calls[2]?.answer();
    await vi.waitFor(() => expect(log).toHaveLength(5));
  });

  it("share a command where many downloads come one after the other", async () => {
    const sizes: number[] = [];
    const { notes } = create(async (batch) => void sizes.push(batch.length));
    await notes.add(note(0));
    await Promise.all([notes.add(note(1)), notes.add(note(2))]);
    expect(sizes).toEqual([1, 2]);
  });

  it("are repeated under the same command id while controller is away, and nobody waits for them", async () => {
    const ids: string[] = [];
    const { notes, dropped } = create(async (_batch, commandId) => {
      ids.push(commandId);
      if (ids.length < 3) throw new HarrierError("unavailable");
    });
    await notes.add(note(1));
    await notes.add(note(2));
    expect(ids).toHaveLength(1);
    await vi.waitFor(() => expect(ids).toHaveLength(4), 5_000);
    expect(new Set(ids).size).toBe(2);
    expect(dropped).toEqual([]);
    await notes.stop();
  });

  it("hold no download for longer than a moment where controller hangs, and wait for it again once it answers", async () => {
    const { calls, send } = heldController();
    const { notes } = create(send);
    const began = Date.now();
    // one that is being written, and one that would come behind it
    const [first, second] = [notes.add(note(1)), notes.add(note(2))];
    await Promise.all([first, second, vi.waitFor(() => expect(calls).toHaveLength(1)).then(() => notes.add(note(3)))]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(limits.timeoutMs - 10);
    await notes.add(note(4)); // by now it is known
    expect(calls).toHaveLength(1);
    calls[0]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    const { log, add } = watch();
    add(notes, 5);
    expect(calls[1]?.ids).toEqual([3, 4]);
    calls[1]?.answer();
    await vi.waitFor(() => expect(calls).toHaveLength(3));
    expect(log).toEqual([]);
    calls[2]?.answer();
    await vi.waitFor(() => expect(log).toEqual(["download 5"]));
  });

  it("are dropped when they are refused, wait too long, or do not fit", async () => {
    let now = 0;
    const { notes, dropped } = create(
      async () => {
        now += 600;
        throw new HarrierError("unavailable");
      },
      () => now,
    );
    await notes.add(note(0));
    const rest = Array.from({ length: 6 }, (_, i) => notes.add(note(i)));
    expect(dropped).toEqual([1]); // one is on its way, five wait
    await Promise.all(rest);
    await vi.waitFor(() => expect(dropped).toEqual([1, 1, 3, 2]), 5_000);
    await notes.stop();
    const refused = create(async () => {
      throw new HarrierError("insufficientPermission");
    });
    await refused.notes.add(note(1));
    await refused.notes.stop();
    expect(refused.dropped).toEqual([1]);
  });

  it("are written when the service stops, without waiting for an absent controller", async () => {
    const sent: number[] = [];
    const { notes } = create(async (batch) => void sent.push(batch.length));
    const all = Array.from({ length: 5 }, (_, i) => notes.add(note(i)));
    await notes.stop();
    await Promise.all(all);
    expect(sent).toEqual([3, 2]);
    const absent = create(async () => {
      throw new HarrierError("unavailable");
    });
    void absent.notes.add(note(1));
    await absent.notes.stop();
    expect(absent.dropped).toEqual([1]);
  });

  it("hold no download for longer than a moment behind batches that are each just in time", async () => {
    const { notes } = create(() => new Promise((resolve) => setTimeout(resolve, limits.timeoutMs * 0.9)));
    const began = Date.now();
    await notes.add(note(0)); // what comes now waits behind it
    const rest = Array.from({ length: 5 }, (_, i) => notes.add(note(i)));
    const behind = Date.now();
    await Promise.all(rest);
    expect(behind - began).toBeGreaterThanOrEqual(limits.timeoutMs * 0.9 - 10);
    expect(Date.now() - behind).toBeLessThan(limits.timeoutMs * 1.7); // three batches would take 2.7 times as long
    await notes.stop();
  });

  it("are dropped together, by one line, where the service stops and controller hangs", async () => {
    const { send } = heldController();
    const { notes, dropped } = create(send);
    const all = Array.from({ length: 6 }, (_, i) => notes.add(note(i)));
    const began = Date.now();
    await notes.stop();
    await Promise.all(all);
    expect(Date.now() - began).toBeLessThan(limits.stopMs + 500);
    expect(dropped).toEqual([3]); // three are on their way
  });

  it("that find no room are told of together", async () => {
    let now = 0;
    const { send } = heldController();
    const { notes, dropped } = create(send, () => now);
    for (let i = 0; i < 50; i++) void notes.add(note(i));
    expect(dropped).toEqual([1]);
    now += 10_000;
    void notes.add(note(50));
    expect(dropped).toEqual([1, 42]); // three are on their way, five wait
    await notes.stop();
  });
});

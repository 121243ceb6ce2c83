import { HarrierError } from "@harrier/errors";
import { describe, expect, it, vi } from "vitest";
import { type DownloadNote, DownloadNotes } from "./download-notes.ts";

const limits = { everyMs: 20, batch: 3, waiting: 5, giveUpMs: 1_000 };
const note = (actionId: number): DownloadNote => ({ tenantId: 1, actionId, path: "/p", at: 0 });

function create(send: (notes: readonly DownloadNote[], commandId: string) => Promise<void>, now: () => number = Date.now) {
  const dropped: number[] = [];
  const notes = new DownloadNotes({ send, onDropped: (count) => dropped.push(count), now }, limits);
  return { notes, dropped };
}

describe("download notes", () => {
  it("gathers what comes within a moment", async () => {
    const send = vi.fn(async () => {});
    const { notes } = create(send);
    notes.add(note(1));
    notes.add(note(2));
    await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(1), 5_000);
    expect(send.mock.calls[0]).toEqual([[note(1), note(2)], expect.any(String)]);
  });

  it("sends a full batch at once, and several one after the other with ids of their own", async () => {
    const sent: [number, string][] = [];
    const { notes } = create(async (batch, commandId) => void sent.push([batch.length, commandId]));
    for (let i = 0; i < 5; i += 1) notes.add(note(i));
    await notes.stop();
    expect(sent.map(([length]) => length)).toEqual([3, 2]);
    expect(new Set(sent.map(([, id]) => id)).size).toBe(2);
  });

  it("repeats a batch under the same command id while controller is away", async () => {
    const ids: string[] = [];
    const { notes, dropped } = create(async (_batch, commandId) => {
      ids.push(commandId);
      if (ids.length < 3) throw new HarrierError("unavailable");
    });
    notes.add(note(1));
    await vi.waitFor(() => expect(ids).toHaveLength(3), 5_000);
    expect(new Set(ids).size).toBe(1);
    expect(dropped).toEqual([]);
    await notes.stop();
  });

  it("drops what is refused, what waits too long, and what does not fit", async () => {
    let now = 0;
    const { notes, dropped } = create(
      async () => {
        now += 600;
        throw new HarrierError("unavailable");
      },
      () => now,
    );
    for (let i = 0; i < 9; i += 1) notes.add(note(i));
    expect(dropped).toEqual([1]); // three are on their way, five wait
    await vi.waitFor(() => expect(dropped).toEqual([1, 3, 3, 2]), 5_000);
    await notes.stop();
    const refused = create(async () => {
      throw new HarrierError("insufficientPermission");
    });
    refused.notes.add(note(1));
    await refused.notes.stop();
    expect(refused.dropped).toEqual([1]);
  });

  it("does not wait for an absent controller when it stops", async () => {
    const { notes, dropped } = create(async () => {
      throw new HarrierError("unavailable");
    });
    notes.add(note(1));
    await notes.stop();
    expect(dropped).toEqual([1]);
  });
});

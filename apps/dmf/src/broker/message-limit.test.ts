import { describe, expect, it, vi } from "vitest";
import { limitMessages } from "./message-limit.ts";

/** A channel that keeps what it is given. */
function channelOf() {
  const given: { size?: number; content?: string; id?: number }[] = [];
  const channel = {
    accept({ content, ...frame }: { size?: number; content?: Buffer; id?: number }) {
      given.push(content === undefined ? frame : { ...frame, content: content.toString() });
    },
  };
  limitMessages(channel, 10);
  const message = (...parts: string[]) => {
    channel.accept({ id: 60, size: parts.join("").length });
    for (const part of parts) channel.accept({ content: Buffer.from(part) });
  };
  return { channel, given, message };
}

describe("limitMessages", () => {
  it("leaves what is small enough as it is, also a message without content and other frames", () => {
    const { channel, given, message } = channelOf();
    channel.accept({ id: 1 });
    message();
    message("0123456789");
    message("01234", "56789");
    expect(given).toEqual([
      { id: 1 },
      { id: 60, size: 0 },
      { id: 60, size: 10 },
      { content: "0123456789" },
      { id: 60, size: 10 },
      { content: "01234" },
      { content: "56789" },
    ]);
  });

  it.each([
    ["in one frame", ["0123456789abc"], ["0123456789a"]],
    ["in frames of which one is cut", ["01234567", "89abcdef", "ghi"], ["01234567", "89a"]],
    ["in frames of which none is cut", ["01234567", "89a", "bcd", "e"], ["01234567", "89a"]],
    ["by one byte", ["0123456789a"], ["0123456789a"]],
  ])("gives the first bytes of a message that is too large, %s, and the next message whole", (_, parts, cut) => {
    const { given, message } = channelOf();
    message(...parts);
    message("next");
    expect(given).toEqual([{ id: 60, size: 11 }, ...cut.map((content) => ({ content })), { id: 60, size: 4 }, { content: "next" }]);
  });

  it("has the buffers of what is read collected, once for each 8 MiB", () => {
    const collect = vi.fn();
    const channel = { accept: (_: { size?: number; content?: Buffer }) => undefined };
    limitMessages(channel, 10, collect);
    const content = Buffer.alloc(128 * 1024);
    channel.accept({ size: 191 * content.length });
    for (let n = 0; n < 191; n += 1) channel.accept({ content });
    expect(collect).toHaveBeenCalledTimes(2);
    channel.accept({ size: content.length });
    channel.accept({ content });
    expect(collect).toHaveBeenCalledTimes(3);
  });

  it("refuses a channel that reads in another way", () => {
    expect(() => limitMessages({}, 10)).toThrow("cannot be limited");
  });
});

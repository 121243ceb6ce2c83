import { expect, test } from "vitest";
import { readAnyHeaders } from "./any-headers.ts";

/** A frame of a message's headers, on channel 3, of a message of 5 bytes. */
function headerFrame(type = 2): Buffer {
  const frame = Buffer.alloc(7 + 14 + 1);
  frame.writeUInt8(type, 0);
  frame.writeUInt16BE(3, 1);
  frame.writeUInt32BE(14, 3);
  frame.writeUInt16BE(60, 7);
  frame.writeBigInt64BE(5n, 11);
  return frame;
}

/** A connection that reads one frame, and fails to take it apart. */
function failing(rest: Buffer, reads = true) {
  return {
    rest,
    recvFrame() {
      if (reads) this.rest = Buffer.alloc(0);
      throw new RangeError("Maximum call stack size exceeded");
    },
  };
}

test("of headers that cannot be read the message is given, without its properties", () => {
  const connection = failing(headerFrame());
  readAnyHeaders(connection);
  expect(connection.recvFrame()).toEqual({ id: 60, channel: 3, size: 5, fields: { unreadable: true } });
});

test("any other frame, and what is no whole one, fails as before", () => {
  for (const connection of [failing(headerFrame(1)), failing(Buffer.from([2, 0])), failing(headerFrame(), false)]) {
    readAnyHeaders(connection);
    expect(() => connection.recvFrame()).toThrow(RangeError);
  }
});

test("a library that reads in another way is refused", () => {
  expect(() => readAnyHeaders({ rest: Buffer.alloc(0) })).toThrow("reads frames in another way");
});

import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { ReadBudget } from "./read-budget.ts";

/** A connection that always has a frame to read, and whose peer is silent. */
const connectionOf = () => ({ stream: new EventEmitter(), recvFrame: (): unknown => "frame", recvSinceLastCheck: false });

test("a connection waits while what has come is too much, does not take its peer for dead, and reads on when some has ended", async () => {
  const connection = connectionOf();
  const budget = new ReadBudget(connection, 10);
  const first = budget.take(4);
  expect(connection.recvFrame()).toBe("frame");
  const second = budget.take(6);
  expect(connection.recvSinceLastCheck).toBe(false);
  expect(connection.recvFrame()).toBe(false);
  expect(connection.recvSinceLastCheck).toBe(true);
  const goesOn = once(connection.stream, "readable");
  second();
  await goesOn;
  expect(connection.recvFrame()).toBe("frame");
  expect(connection.recvSinceLastCheck).toBe(false);
  first();
});

test("one message may be larger than all may be together", () => {
  const connection = connectionOf();
  const budget = new ReadBudget(connection, 10);
  const end = budget.take(1_000);
  expect(connection.recvFrame()).toBe(false);
  end();
  expect(connection.recvFrame()).toBe("frame");
});

test("a connection that ends reads to its end", async () => {
  const connection = connectionOf();
  const budget = new ReadBudget(connection, 10);
  budget.take(10);
  expect(connection.recvFrame()).toBe(false);
  const goesOn = once(connection.stream, "readable");
  budget.end();
  await goesOn;
  expect(connection.recvFrame()).toBe("frame");
});

test("a library that reads in another way is refused", () => {
  expect(() => new ReadBudget({ recvFrame: () => false })).toThrow("cannot be made to wait");
});

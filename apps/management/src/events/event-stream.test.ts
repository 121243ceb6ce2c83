import { EventEmitter } from "node:events";
import type { Response } from "express";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EventStream } from "./event-stream.ts";

class Answer extends EventEmitter {
  readonly written: string[] = [];
  writableNeedDrain = false;
  writableEnded = false;
  destroyed = false;
  writeHead(): void {}
  write(text: string): void {
    this.written.push(text);
  }
  end(): void {
    this.writableEnded = true;
    this.emit("close");
  }
}

let answer: Answer;
const open = (seconds: number) => new EventStream(answer as unknown as Response, seconds);
beforeEach(() => {
  vi.useFakeTimers();
  answer = new Answer();
});
afterEach(() => vi.useRealTimers());

test("a heartbeat is sent every 15 s, but not to a client that does not read", () => {
  open(300);
  answer.written.splice(0);
  vi.advanceTimersByTime(30_000);
  expect(answer.written.splice(0)).toEqual([":\n\n", ":\n\n"]);
  answer.writableNeedDrain = true;
  vi.advanceTimersByTime(30_000);
  expect(answer.written).toEqual([]);
});

test("the stream ends after its time and leaves no timer", async () => {
  const stream = open(20);
  vi.advanceTimersByTime(19_999);
  expect(stream.open).toBe(true);
  vi.advanceTimersByTime(1);
  await stream.ended;
  expect([stream.open, answer.writableEnded, vi.getTimerCount()]).toEqual([false, true, 0]);
  stream.send("event", {});
  expect(answer.written).toHaveLength(2);
});

test.each([
  ["leaves", () => answer.emit("close")],
  ["has left already", () => {}],
])("a client that %s leaves no timer", async (_what, leave) => {
  answer.destroyed = true;
  const stream = open(300);
  leave();
  await stream.ended;
  expect([stream.open, vi.getTimerCount()]).toEqual([false, 0]);
});

test("events have a name, data in one line, and an id where one is given", () => {
  const stream = open(300);
  answer.written.splice(0);
  stream.send("event", { a: "1\n2" }, "x");
  stream.send("changed", { subjects: ["*"] });
  stream.sendPosition("y");
  expect(answer.written).toEqual([
    'id: x\nevent: event\ndata: {"a":"1\\n2"}\n\n',
    'event: changed\ndata: {"subjects":["*"]}\n\n',
    "id: y\n\n",
  ]);
});

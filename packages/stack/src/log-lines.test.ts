import { expect, test } from "vitest";
import { createLoudLines } from "./log-lines.ts";

test("warnings, errors and lines that are not from the logger are shown, wherever the pieces are cut", () => {
  const text = [
    '{"level":"info","msg":"request"}',
    '{"level":"warn","time":1,"msg":"slow"}',
    "",
    '{"level":"error","msg":"failed","err":{"type":"Error","message":"because"}}',
    '{"level":"info","msg":"quoting \\"level\\":\\"error\\""}',
    "Error: x",
    "    at y",
    '{"level":"fatal","msg":"ende ü"}',
    '{"level":"in',
    "",
  ].join("\n");
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const shown: string[] = [];
    const lines = createLoudLines((line) => shown.push(line));
    for (let at = 0; at < bytes.length; at += size) lines.take(bytes.subarray(at, at + size));
    expect(shown).toEqual(["warning: slow", "error: failed: because", "Error: x", "    at y", "fatal: ende ü"]);
  }
});

test("quiet lines show nothing", () => {
  const shown: string[] = [];
  createLoudLines((line) => shown.push(line)).take(Buffer.from('{"level":"info"}\n{"level":"debug"}\n'));
  expect(shown).toEqual([]);
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LogFile } from "./log-file.ts";

let dir: string;
let path: string;
let read: string;
let log: LogFile | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-log-"));
  path = join(dir, "logs", "x-0.log");
  read = "";
});
afterEach(() => {
  log?.close();
  rmSync(dir, { recursive: true });
});

function open(limitBytes: number): LogFile {
  log = new LogFile(path, (piece) => (read += piece.toString()), limitBytes);
  return log;
}
function say(to: LogFile, text: string): void {
  writeSync(to.descriptor, text);
  to.read();
}
const cut = () => vi.waitFor(() => expect(statSync(path).size).toBe(0), 8_000);

test("beyond its limit the log begins anew and the previous one is kept; other users cannot read them", async () => {
  const file = open(10);
  say(file, "a longer line\n");
  await cut();
  expect(readFileSync(`${path}.1`, "utf8")).toBe("a longer line\n");
  await vi.waitFor(() => {
    say(file, "more\n");
    expect(read).toMatch(/^a longer line\n(more\n)+$/);
  }, 8_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, "logs")).mode & 0o777).toBe(0o700);
});

test("if the previous one cannot be kept, the log begins anew all the same", async () => {
  const file = open(10);
  mkdirSync(`${path}.1`); // no file can be written there
  say(file, "a longer line\n");
  await cut();
});

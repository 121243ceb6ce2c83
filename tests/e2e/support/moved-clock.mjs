// This module is loaded into a process with --import. It shifts the time that the process sees by the seconds in the file CLOCK_FILE, whenever they
// change, and then writes them into CLOCK_FILE.seen: answers do not show the shift, because node makes their Date header from another clock.
import { readFileSync, writeFileSync } from "node:fs";

const RealDate = Date;
const realNow = Date.now.bind(Date);
const file = process.env.CLOCK_FILE;
let aheadMs = 0;
let seen = "";

function readOffset() {
  try {
    const text = readFileSync(file, "utf8");
    aheadMs = Number(text) * 1_000 || 0;
    if (text !== seen) writeFileSync(`${file}.seen`, text);
    seen = text;
  } catch {
    aheadMs = 0;
  }
}

const now = () => realNow() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
readOffset();
setInterval(readOffset, 100).unref();

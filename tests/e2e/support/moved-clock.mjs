// Loaded into a process with --import: moves what it sees as the time by the seconds that stand in the file CLOCK_FILE, now and whenever they change.
// Then it writes the same into CLOCK_FILE.seen: answers do not tell, for node makes their Date header from a clock of its own.
import { readFileSync, writeFileSync } from "node:fs";

const RealDate = Date;
const realNow = Date.now.bind(Date);
const file = process.env.CLOCK_FILE;
let aheadMs = 0;
let seen = "";

function look() {
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
look();
setInterval(look, 100).unref();

// Loaded into a process with --import: moves what it sees as the time by the seconds that stand in the file CLOCK_FILE, now and whenever they change.
import { readFileSync } from "node:fs";

const RealDate = Date;
const realNow = Date.now.bind(Date);
let aheadMs = 0;

function look() {
  try {
    aheadMs = Number(readFileSync(process.env.CLOCK_FILE, "utf8")) * 1_000 || 0;
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

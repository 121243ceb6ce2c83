/**
 * The named moments at which a test may kill, end or delay a process. They are one table, so that a test can iterate over it; the service with
 * which a name begins passes the point.
 */
export const faultPoints = [
  "gateway.proxy.before-forward",
  "gateway.proxy.after-answer",
  "controller.http.before-answer",
  "controller.http.after-answer",
  "controller.rpc.before-answer",
  "controller.create-targets.after-commit",
  "controller.assign.after-commit",
  "controller.cancel.after-commit",
  "controller.retry.after-commit",
  "controller.prove.after-commit",
  "controller.settle.before-commit",
  "controller.settle.after-commit",
  "controller.delete-targets.after-commit",
  "controller.report.after-commit",
  "controller.schedule-chunk.before-commit",
  "controller.schedule-chunk.after-commit",
  "controller.start-chunk.before-commit",
  "controller.start-chunk.after-commit",
  "controller.stop-chunk.after-commit",
  "controller.cancel-set-chunk.after-commit",
  "controller.clean-actions.after-commit",
  "controller.auto-assign-chunk.after-commit",
  "controller.relay.after-send",
  "dmf.message.before-handled",
  "dmf.message.after-handled",
  "dmf.message.after-ack",
  "dmf.publish.before-publish",
  "dmf.publish.before-confirm",
  "dmf.publish.after-confirm",
  "management.http.before-answer",
  "management.http.after-answer",
  "management.audit.before-end",
  "management.rpc.before-answer",
  "management.create-set.after-commit",
  "management.invalidate-set.after-commit",
  "management.delete-targets.after-commit",
  "management.change-targets.after-commit",
  "management.attach-artifact.after-commit",
  "management.relay.after-send",
  "management.sie.before-confirm",
  "management.sie.after-confirm",
  "artifact-store.http.before-answer",
  "artifact-store.http.after-answer",
  "artifact-store.audit.before-end",
  "artifact-store.rpc.before-answer",
  "artifact-store.upload.after-store",
  "artifact-store.upload.after-commit",
  "artifact-store.upload.after-attach",
  "artifact-store.part.after-store",
  "artifact-store.part.after-commit",
  "artifact-store.complete.after-join",
  "artifact-store.complete.after-commit",
  "rollout-engine.http.before-answer",
  "rollout-engine.http.after-answer",
  "rollout-engine.audit.before-end",
  "rollout-engine.create.after-commit",
  "rollout-engine.freeze.after-commit",
  "rollout-engine.start.after-commit",
  "rollout-engine.advance.after-commit",
  "rollout-engine.auto-assign.after-candidates",
  "rollout-engine.auto-assign.after-chunk",
  "rollout-engine.relay.after-send",
] as const;

export type FaultPoint = (typeof faultPoints)[number];

type Effect = { kind: "kill" } | { kind: "exit" } | { kind: "delay"; ms: number };

interface Fault {
  passesLeft: number;
  readonly effect: Effect;
}

// it is a global of the process on purpose, because a fault ends the whole process and not an object in it
let armed: Map<string, Fault> | undefined;

/** Arms `name:nth[:kill|exit|delay=<ms>]`, several separated by commas; undefined disarms. Throws on an unknown point. */
export function armFaults(text: string | undefined): void {
  if (text === undefined || text.trim() === "") {
    armed = undefined;
    return;
  }
  armed = new Map(text.split(",").map((entry) => parseFault(entry.trim())));
}

/** Passes a fault point. It costs one comparison while no fault is armed. */
export function faultPoint(name: FaultPoint): void | Promise<void> {
  if (armed === undefined) return;
  const fault = armed.get(name);
  if (fault === undefined) return;
  fault.passesLeft -= 1;
  if (fault.passesLeft !== 0) return;
  return happen(fault.effect);
}

/** Whether any fault is armed; it saves the preparation of a point. */
export function faultsArmed(): boolean {
  return armed !== undefined;
}

function happen(effect: Effect): void | Promise<void> {
  if (effect.kind === "delay") return new Promise((resolve) => setTimeout(resolve, effect.ms));
  if (effect.kind === "exit") process.exit(1);
  process.kill(process.pid, "SIGKILL");
  // the signal may take a moment, and nothing behind this point may happen
  return new Promise(() => undefined);
}

function parseFault(entry: string): [string, Fault] {
  const [name = "", nth = "1", effect = "kill"] = entry.split(":");
  if (!(faultPoints as readonly string[]).includes(name)) throw new Error(`"${name}" is not a fault point`);
  const passesLeft = Number(nth);
  if (!Number.isInteger(passesLeft) || passesLeft < 1) throw new Error(`fault "${entry}": "${nth}" is not a count`);
  return [name, { passesLeft, effect: parseEffect(entry, effect) }];
}

function parseEffect(entry: string, text: string): Effect {
  if (text === "kill" || text === "exit") return { kind: text };
  const delay = /^delay=(\d+)$/.exec(text);
  if (delay === null) throw new Error(`fault "${entry}": effects are kill, exit and delay=<ms>`);
  return { kind: "delay", ms: Number(delay[1]) };
}

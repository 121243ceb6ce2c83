import type { ResponseOf } from "@harrier/contracts";
import { type OptionRow, type Options, text, type Verb } from "../command.ts";
import { ExitError, exit } from "../exit.ts";
import { columnsOf } from "../output/columns.ts";
import { r } from "../routes.ts";
import { durationOf, type Session } from "../session.ts";

export const operationColumns = columnsOf("id", "kind", "subject", "status", "done", "total", "failed");
const restMs = 1_000;

/** Waits until an operation has ended; exit 3 after `timeoutMs`. What it could not reach is in `failed` and `failures`. */
export async function waitForOperation(
  session: Session,
  operationId: string,
  timeoutMs: number,
): Promise<ResponseOf<typeof r.operations.get>> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const operation = await session.read(r.operations.get, { params: { operationId } });
    if (operation.status === "finished") return operation;
    if (Date.now() >= until) throw new ExitError(exit.waiting, `operation ${operationId} is still ${operation.status}`);
    await new Promise<void>((resolve, reject) => {
      const aborted = () => {
        clearTimeout(timer);
        reject(session.signal.reason as Error);
      };
      const timer = setTimeout(() => {
        session.signal.removeEventListener("abort", aborted);
        resolve();
      }, restMs);
      session.signal.addEventListener("abort", aborted, { once: true });
    });
  }
}

/** The options of verbs that begin an operation. */
export const operationWaitOptions: readonly OptionRow[] = [
  ["--wait", "wait until it is done"],
  ["--timeout <duration>", "wait no longer; 30m by default"],
];

/** Waits for an operation if `--wait` says so, and otherwise names it. */
export async function endOf(session: Session, operation: { readonly id: string | number }, options: Options, does: string): Promise<void> {
  if (!options["wait"]) return session.note(`operation ${operation.id} ${does}`);
  const ended = await waitForOperation(session, String(operation.id), durationOf(text(options, "timeout") ?? "30m", "--timeout"));
  await session.one(ended, operationColumns);
}

export const waitVerb: Verb = {
  name: "wait",
  finishes: true,
  summary: "Wait for an operation: exit 0 done, 3 not in time",
  args: "<id>",
  options: [["--timeout <duration>", "wait no longer; 30m by default"]],
  async run(session, [id = ""], options) {
    await session.one(await waitForOperation(session, id, durationOf(text(options, "timeout") ?? "30m", "--timeout")), operationColumns);
  },
};

import type { ResponseOf } from "@harrier/contracts";
import { type OptionRow, type Options, text, type Verb } from "../command.ts";
import { ExitError, exit } from "../exit.ts";
import { look } from "../look.ts";
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
    const operation = await look(session, until, (signal) => session.read(r.operations.get, { params: { operationId }, signal }));
    if (operation?.status === "finished") return operation;
    if (Date.now() >= until)
      throw new ExitError(exit.waiting, `operation ${operationId} is still ${operation?.status ?? "not to be seen"}`);
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
  await showEnd(session, ended);
}

/** Shows an operation that has ended: exit 1 where it could not reach some of its targets. */
async function showEnd(session: Session, ended: ResponseOf<typeof r.operations.get>): Promise<void> {
  await session.one(ended, operationColumns);
  const { failed = 0 } = ended as { failed?: number };
  if (failed > 0) throw new ExitError(exit.failed, `operation ${ended.id}: ${failed} of ${ended.total} could not be done`);
}

export const waitVerb: Verb = {
  name: "wait",
  finishes: true,
  summary: "Wait for an operation: exit 0 done, 1 done but for some targets, 3 not in time",
  args: "<id>",
  options: [["--timeout <duration>", "wait no longer; 30m by default"]],
  async run(session, [id = ""], options) {
    await showEnd(session, await waitForOperation(session, id, durationOf(text(options, "timeout") ?? "30m", "--timeout")));
  },
};

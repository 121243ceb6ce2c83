import { randomBytes } from "node:crypto";
import { ApiError } from "@harrier/client";
import type { ResponseOf } from "@harrier/contracts";
import type { Verb } from "../command.ts";
import { ExitError, exit, usage } from "../exit.ts";
import { columnsOf } from "../output/columns.ts";
import type { Kind } from "../resolve.ts";
import { r } from "../routes.ts";
import type { Session } from "../session.ts";
import { checksOf } from "./target-checks.ts";

type Action = ResponseOf<typeof r.actions.get>;

/** Reads what a caller may see of something, or nothing where it may not. */
async function ifAllowed<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

/** What a poll meets first: an action that the device is asked to give up, then the newest open one, then one whose group has not begun. */
const inOrder = ["detailstatus==canceling", "active==true", "detailstatus==scheduled"];

/** Answers the first action of a target that one of the queries means, the newest one of it. */
async function firstAction(session: Session, targetId: string, queries: readonly string[]): Promise<Action | undefined> {
  const pages = await Promise.all(
    queries.map((q) =>
      session.read(r.targets.listActions, { params: { targetId }, query: { q, sort: "id:DESC", limit: 1, total: "none" } }),
    ),
  );
  return pages.flatMap(({ content }) => content)[0] as Action | undefined;
}

async function checksFor(session: Session, targetId: string) {
  const [target, action] = await Promise.all([
    session.read(r.targets.get, { params: { targetId } }),
    firstAction(session, targetId, inOrder),
  ]);
  const rollout =
    action?.rollout === undefined ? undefined : await ifAllowed(session.read(r.rollouts.get, { params: { rolloutId: action.rollout } }));
  const autoConfirm =
    action?.detailStatus === "wait_for_confirmation"
      ? await ifAllowed(session.read(r.targets.autoConfirm, { params: { targetId } }))
      : undefined;
  return checksOf({ target, action, rollout, autoConfirm, now: Date.now() });
}

/** The newest answer of `history` with what is read of it beside `targets`. */
export const followVerbs = (target: Kind): readonly Verb[] => [
  {
    name: "explain",
    summary: "Say why a target gets no update, as far as the command line sees it: exit 0 nothing holds it up, 7 something does",
    args: "<id>",
    completes: [target],
    async run(session, [targetId = ""]) {
      const checks = await checksFor(session, targetId);
      await session.rows(checks, columnsOf("check", "state", "text"));
      session.note("seen by the command line: the server does not say whether the device could sign in");
      const first = checks.find(({ state }) => state === "no");
      if (first !== undefined) throw new ExitError(exit.differences, `${first.check}: ${first.text}`);
    },
  },
  {
    name: "watch",
    summary: "Follow the events of a target, one line for each, until Ctrl-C",
    args: "<id>",
    completes: [target],
    async run(session, [targetId = ""]) {
      await session.read(r.targets.get, { params: { targetId } });
      const client = await session.client();
      const own = `targets/${targetId}`;
      for await (const event of client.events(r.events.stream, { signal: session.signal })) {
        const { time, type, subject, data } = event.data as { time: string; type: string; subject: string; data: Record<string, unknown> };
        if (subject !== own && !subject.startsWith(`${own}/`)) continue;
        const what = type.replace(/^io\.update\./, "").replace(/\.v\d+$/, "");
        const told = ["actionId", "status", "code"].flatMap((name) => (data[name] === undefined ? [] : [`${name} ${String(data[name])}`]));
        const line = session.options.output === "table" ? [time, what, ...told].join("  ") : JSON.stringify(event.data);
        await session.print(`${line}\n`);
      }
      throw session.signal.reason;
    },
  },
  {
    name: "confirm",
    summary: "Confirm the action of a target that waits for it",
    args: "<id>",
    completes: [target],
    writes: true,
    async run(session, [targetId = ""]) {
      const action = await firstAction(session, targetId, ["detailstatus==wait_for_confirmation"]);
      if (action === undefined) throw new ExitError(exit.notFound, `no action of ${targetId} waits for a confirmation`);
      const params = { targetId, actionId: action.id };
      await session.write(r.targets.confirmAction, { params, body: { confirmation: "confirmed", details: [] } });
      session.note(`action ${action.id} is confirmed`);
    },
  },
  {
    name: "token",
    summary: "Show the security token of a target, or give it another one: token show ID, token rotate ID",
    args: "<show|rotate> [id]",
    writes: true,
    async run(session, [what = "", id]) {
      const targetId = id ?? what; // without a verb it is shown
      if (id !== undefined && what !== "show" && what !== "rotate") throw usage("token show ID, or token rotate ID");
      const isNew = id !== undefined && what === "rotate";
      const body = { securityToken: randomBytes(16).toString("hex") };
      const { securityToken } = isNew
        ? await session.write(r.targets.update, { params: { targetId }, body })
        : await session.read(r.targets.get, { params: { targetId } });
      await session.one({ securityToken }, [{ head: "TOKEN", at: "securityToken" }]);
    },
  },
];

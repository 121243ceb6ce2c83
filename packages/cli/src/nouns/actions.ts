import { text, type Verb } from "../command.ts";
import { ExitError, exit, usage } from "../exit.ts";
import type { Column } from "../output/columns.ts";
import { r } from "../routes.ts";
import { type Session, wholeOf } from "../session.ts";
import { listVerb, noun } from "./entity.ts";

export const actionColumns: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "TARGET", at: "target.controllerId" },
  { head: "STATUS", at: "detailStatus" },
  {
    head: "SET",
    at: (row: { distributionSet?: { name: string; version: string } }) =>
      row.distributionSet && `${row.distributionSet.name}:${row.distributionSet.version}`,
  },
  { head: "TYPE", at: "forceType" },
  { head: "ROLLOUT", at: "rolloutName" },
  { head: "CREATED", at: "createdAt", time: true },
  { head: "MESSAGE", at: "lastMessage", wide: true },
];

const actionRow = { writes: true, args: "<id>" } as const;
async function ofAction(session: Parameters<Verb["run"]>[0], id: string): Promise<{ targetId: string; actionId: number }> {
  const { target } = await session.read(r.actions.get, { params: { actionId: id } });
  return { targetId: target.controllerId, actionId: Number(id) };
}

/** As many actions as one deletion takes. */
const maxDeleted = 5_000;

/** The actions that a query means now; another number than was expected is a conflict. They are deleted by id, so that no others are. */
async function meant(session: Session, q: string, expected: string | undefined): Promise<number[]> {
  if (expected === undefined) throw usage("--confirm must say how many actions the query means");
  const ids: number[] = [];
  for await (const { id } of session.list(r.actions.list, { query: q, sort: "id:ASC", all: true })) {
    ids.push(id);
    if (ids.length > maxDeleted) throw new ExitError(exit.conflict, `the query means more than ${maxDeleted} actions`);
  }
  if (ids.length !== wholeOf(expected, "--confirm"))
    throw new ExitError(exit.conflict, `the query means ${ids.length} actions, not ${expected}`);
  return ids;
}

export const actions = noun(["action", "actions"], "Actions: deliveries of a set to a target", [
  listVerb(r.actions.list, actionColumns, "List actions, the newest first"),
  {
    name: "get",
    summary: "Show one action",
    args: "<id>",
    run: async (session, [actionId = ""]) => session.one(await session.read(r.actions.get, { params: { actionId } }), actionColumns),
  },
  {
    ...actionRow,
    name: "cancel",
    summary: "Cancel an action; --force ends one that is being cancelled",
    options: [["--force", "do not wait for the device"]],
    async run(session, [id = ""], options) {
      const params = await ofAction(session, id);
      const query = options["force"] ? { force: true } : {};
      if (options["force"] !== undefined) await session.show(r.targets.cancelAction, { params, query });
      await session.write(r.targets.cancelAction, { params, query });
      session.note(`action ${id} is cancelled`);
    },
  },
  {
    ...actionRow,
    name: "force",
    summary: "Switch an action to forced",
    async run(session, [id = ""]) {
      await session.one(
        await session.write(r.targets.forceAction, { params: await ofAction(session, id), body: { forceType: "forced" } }),
        actionColumns,
      );
    },
  },
  ...(["confirm", "deny"] as const).map(
    (name): Verb => ({
      ...actionRow,
      name,
      summary: `${name === "confirm" ? "Confirm" : "Deny"} an action that waits for it`,
      async run(session, [id = ""]) {
        await session.write(r.targets.confirmAction, {
          params: await ofAction(session, id),
          body: { confirmation: name === "confirm" ? "confirmed" : "denied", details: [] },
        });
        session.note(`action ${id} is ${name === "confirm" ? "confirmed" : "denied"}`);
      },
    }),
  ),
  {
    ...actionRow,
    name: "history",
    summary: "List what a device has reported of an action",
    args: "<id>",
    async run(session, [id = ""]) {
      const params = await ofAction(session, id);
      await session.rows(session.list(r.targets.actionStatus, { all: true }, { params }), [
        { head: "ID", at: "id" },
        { head: "TIME", at: "reportedAt", time: true },
        { head: "STATUS", at: "type" },
        { head: "CODE", at: "code" },
        { head: "MESSAGES", at: (row: { messages: string[] }) => row.messages.join(" / ") },
      ]);
    },
  },
  {
    name: "delete",
    summary: "Delete a closed action, or the closed ones of a query (at most 5,000, all or none)",
    args: "[id]",
    writes: true,
    destructive: true,
    options: [
      ["-q, --query <fiql>", "the actions to delete"],
      ["--confirm <n>", "how many actions the query means"],
    ],
    async run(session, [actionId], options) {
      const q = text(options, "query");
      if ((q === undefined) === (actionId === undefined)) throw usage("give the id of an action, or --query");
      const ids = q === undefined ? [] : await meant(session, q, text(options, "confirm"));
      await session.confirm(q === undefined ? `Delete the action ${actionId}` : `Delete the actions that ${q} means`);
      if (q === undefined) await session.write(r.actions.delete, { params: { actionId: actionId as string } });
      else if (ids.length > 0) await session.write(r.actions.deleteMany, { body: ids } as never);
      session.note(q === undefined ? `action ${actionId} is deleted` : "they are deleted");
    },
  },
]);

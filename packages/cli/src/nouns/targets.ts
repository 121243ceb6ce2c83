import { given, type Options, text, type Verb } from "../command.ts";
import { usage } from "../exit.ts";
import { auditColumns, type Column } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import type { ListOptions } from "../session.ts";
import { setEntity } from "./catalogue.ts";
import { listVerb, noun } from "./entity.ts";
import { targetTagEntity, targetTypeEntity } from "./types.ts";

const columns: readonly Column[] = [
  { head: "ID", at: "controllerId" },
  { head: "NAME", at: "name" },
  { head: "STATUS", at: "updateStatus" },
  { head: "TYPE", at: "targetTypeName" },
  { head: "GROUP", at: "group" },
  { head: "LAST POLL", at: "lastControllerRequestAt", time: true },
  { head: "ADDRESS", at: "ipAddress", wide: true },
  { head: "INSTALLED", at: "installedAt", wide: true, time: true },
  ...auditColumns,
];
const set = (at: string) => (row: Record<string, { name: string; version: string } | undefined>) =>
  row[at] && `${row[at].name}:${row[at].version}`;
const fullColumns: readonly Column[] = [
  ...columns,
  { head: "ASSIGNED", at: set("assignedSet"), wide: true },
  { head: "INSTALLED SET", at: set("installedSet"), wide: true },
];
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

const memberOptions = [
  ["--name <name>", "its name"],
  ["--description <text>", "what it is"],
  ["--address <uri>", "where it is reached"],
  ["--type <name>", "its type"],
  ["--group <path>", "its group"],
] as const;

async function membersOf(session: Parameters<Verb["run"]>[0], options: Options): Promise<Record<string, unknown>> {
  const type = text(options, "type");
  const { name, description, address, group } = options;
  return given({
    name,
    description,
    address,
    group,
    targetType: type === undefined ? undefined : await idOf(session, targetTypeEntity, type),
  });
}

/** A secret is shown by `token show` only; everything else leaves it out. */
function withoutToken<T>(row: T): T {
  const { securityToken: _secret, ...rest } = row as T & { securityToken?: string };
  return rest as T;
}

async function* withoutTokens(rows: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  for await (const row of rows) yield withoutToken(row);
}

function tagVerb(name: "tag" | "untag", row: typeof r.targetTags.assign | typeof r.targetTags.unassign, summary: string): Verb {
  return {
    name,
    summary,
    args: "<tag> <target...>",
    writes: true,
    async run(session, [tag = "", ...targets]) {
      await session.write(row, { params: { targetTagId: await idOf(session, targetTagEntity, tag) }, body: targets } as never);
      session.note(`${targets.length} targets`);
    },
  };
}

const verbs: readonly Verb[] = [
  {
    name: "list",
    summary: "List targets",
    list: true,
    options: [["--full", "with assigned and installed set (in wide, csv and json)"]],
    run(session, _args, options) {
      const query = options["full"] ? { representation: "full" } : {};
      return session.rows(
        withoutTokens(session.list(r.targets.list, options as ListOptions, { query })),
        options["full"] ? fullColumns : columns,
      );
    },
  },
  {
    name: "get",
    summary: "Show one target",
    args: "<id>",
    run: async (session, [targetId = ""]) =>
      session.one(withoutToken(await session.read(r.targets.get, { params: { targetId } })), columns),
  },
  {
    name: "create",
    summary: "Create a target",
    args: "<id>",
    writes: true,
    options: memberOptions,
    async run(session, [controllerId = ""], options) {
      const [made] = await session.write(r.targets.create, { body: [{ controllerId, ...(await membersOf(session, options)) }] });
      await session.one(withoutToken(made), columns);
    },
  },
  {
    name: "update",
    summary: "Change a target; what is not given stays",
    args: "<id>",
    writes: true,
    options: memberOptions,
    async run(session, [targetId = ""], options) {
      const body = await membersOf(session, options);
      if (Object.keys(body).length === 0) throw usage("nothing to change was given");
      await session.one(withoutToken(await session.write(r.targets.update, { params: { targetId }, body })), columns);
    },
  },
  {
    name: "delete",
    summary: "Delete a target, or those of a query (--query, with --confirm and their number)",
    args: "[id]",
    writes: true,
    destructive: true,
    options: [
      ["-q, --query <fiql>", "the targets to delete"],
      ["--confirm <n>", "how many they are"],
    ],
    async run(session, [targetId], options) {
      const q = text(options, "query");
      if ((q === undefined) === (targetId === undefined)) throw usage("give the id of a target, or --query");
      if (targetId !== undefined) {
        await session.confirm(`Delete the target ${targetId} with its actions`);
        await session.write(r.targets.delete, { params: { targetId } });
        return session.note(`target ${targetId} is deleted`);
      }
      const confirm = text(options, "confirm");
      if (confirm === undefined) throw usage("--confirm must say how many targets the query means");
      await session.confirm(`Delete ${confirm} targets`);
      const operation = await session.write(r.targets.deleteByQuery, { query: { q: q as string, confirm } });
      session.note(operation === undefined ? `${confirm} targets are deleted` : `operation ${operation.id} deletes them`);
    },
  },
  {
    name: "assign",
    summary: "Assign a set to targets",
    args: "<set> <id...>",
    writes: true,
    options: [
      ["--type <type>", "forced (default), soft, downloadonly"],
      ["--offline", "it is installed already: nothing is delivered"],
    ],
    async run(session, [of = "", ...targets], options) {
      const type = text(options, "type") as "forced" | "soft" | "downloadonly" | undefined;
      const params = { distributionSetId: await idOf(session, setEntity, of) };
      const body = targets.map((id) => ({ id, ...(type === undefined ? {} : { type }) }));
      const query = options["offline"] ? { offline: true } : {};
      const { assigned, alreadyAssigned, total } = await session.write(r.distributionSets.assignTargets, { params, body, query });
      await session.one({ assigned, alreadyAssigned, total }, [
        { head: "ASSIGNED", at: "assigned" },
        { head: "ALREADY", at: "alreadyAssigned" },
        { head: "TOTAL", at: "total" },
      ]);
    },
  },
  {
    name: "history",
    summary: "List the actions of a target, the newest first",
    args: "<id>",
    list: true,
    run: (session, [targetId = ""], options) =>
      session.rows(session.list(r.targets.listActions, options as ListOptions, { params: { targetId } }), actionColumns),
  },
  {
    name: "attributes",
    summary: "Show the attributes that a device has sent",
    args: "<id>",
    async run(session, [targetId = ""]) {
      const attributes = (await session.read(r.targets.attributes, { params: { targetId } })) ?? {};
      const rows = Object.entries(attributes).map(([key, value]) => ({ key, value }));
      await session.rows(rows, [
        { head: "KEY", at: "key" },
        { head: "VALUE", at: "value" },
      ]);
    },
  },
  tagVerb("tag", r.targetTags.assign, "Give a tag to targets"),
  tagVerb("untag", r.targetTags.unassign, "Take a tag from targets"),
  {
    name: "token",
    summary: "Show the security token of a target",
    args: "<id>",
    async run(session, [targetId = ""]) {
      const { securityToken } = await session.read(r.targets.get, { params: { targetId } });
      await session.one({ securityToken }, [{ head: "TOKEN", at: "securityToken" }]);
    },
  },
];

const actionRow = { writes: true, args: "<id>" } as const;
async function ofAction(session: Parameters<Verb["run"]>[0], id: string): Promise<{ targetId: string; actionId: number }> {
  const { target } = await session.read(r.actions.get, { params: { actionId: id } });
  return { targetId: target.controllerId, actionId: Number(id) };
}

export const targets = [
  noun(["target", "targets", "device", "devices", "dev"], "Targets: the devices that the server knows", verbs),
  noun(["action", "actions"], "Actions: deliveries of a set to a target", [
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
  ]),
];

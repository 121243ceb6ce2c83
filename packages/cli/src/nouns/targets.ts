import { given, type Options, text, type Verb } from "../command.ts";
import { usage } from "../exit.ts";
import { auditColumns, type Column } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import type { ListOptions } from "../session.ts";
import { actionColumns, actions } from "./actions.ts";
import { setEntity } from "./catalogue.ts";
import { noun } from "./entity.ts";
import { endOf, operationWaitOptions } from "./operations.ts";
import { followVerbs } from "./target-follow.ts";
import { groupVerbs, moreTargetVerbs, targetKind } from "./target-more.ts";
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
    completes: [targetTagEntity, targetKind],
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
    completes: [targetKind],
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
    completes: [targetKind],
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
    completes: [targetKind],
    writes: true,
    destructive: true,
    options: [["-q, --query <fiql>", "the targets to delete"], ["--confirm <n>", "how many they are"], ...operationWaitOptions],
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
      if (operation === undefined) return session.note(`${confirm} targets are deleted`);
      await endOf(session, operation, options, "deletes them");
    },
  },
  {
    name: "assign",
    summary: "Assign a set to targets",
    args: "<set> <id...>",
    completes: [setEntity, targetKind],
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
    completes: [targetKind],
    list: true,
    run: (session, [targetId = ""], options) =>
      session.rows(session.list(r.targets.listActions, options as ListOptions, { params: { targetId } }), actionColumns),
  },
  {
    name: "attributes",
    summary: "Show the attributes that a device has sent",
    args: "<id>",
    completes: [targetKind],
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
];

export const targets = [
  noun(["target", "targets", "device", "devices"], "Targets: the devices that the server knows", [
    ...verbs,
    ...followVerbs(targetKind),
    ...moreTargetVerbs,
  ]),
  noun(["group", "groups"], "Groups of targets", groupVerbs),
  actions,
];

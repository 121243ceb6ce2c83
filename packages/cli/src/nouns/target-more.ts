import { readFileSync } from "node:fs";
import { given, text, type Verb } from "../command.ts";
import { ExitError, exit, usage } from "../exit.ts";
import { columnsOf } from "../output/columns.ts";
import { idOf, type Kind } from "../resolve.ts";
import { r } from "../routes.ts";
import { Shown, wholeOf } from "../session.ts";
import { metadataVerb } from "./metadata.ts";
import { endOf, operationWaitOptions } from "./operations.ts";
import { pagesVerb, rawVerb, rowsVerb, showVerb } from "./reads.ts";
import { targetTagEntity, targetTypeEntity } from "./types.ts";

/** A target is named by its controllerId. */
export const targetKind: Kind & { readonly param: string } = {
  word: "target",
  list: r.targets.list,
  param: "targetId",
  ref: { member: "controllerId", text: true },
};

const changes: Readonly<Record<string, { readonly action: string; readonly of?: Kind; readonly member?: string }>> = {
  tag: { action: "addTag", of: targetTagEntity, member: "tagId" },
  untag: { action: "removeTag", of: targetTagEntity, member: "tagId" },
  "set-type": { action: "setType", of: targetTypeEntity, member: "targetTypeId" },
  "remove-type": { action: "removeType" },
  "request-attributes": { action: "requestAttributes" },
};

const setColumns = columnsOf("id", "name", "version", "type", "complete", "locked");

/** Verbs of targets beside those that a list and an assignment need. */
export const moreTargetVerbs: readonly Verb[] = [
  metadataVerb(targetKind, r.targets),
  showVerb({
    name: "assigned",
    summary: "Show the set that is assigned to a target",
    row: r.targets.assignedSet,
    of: targetKind,
    columns: setColumns,
  }),
  showVerb({
    name: "installed",
    summary: "Show the set that a target has installed",
    row: r.targets.installedSet,
    of: targetKind,
    columns: setColumns,
  }),
  rowsVerb({
    name: "tags",
    summary: "List the tags of a target",
    row: r.targets.tags,
    of: targetKind,
    columns: columnsOf("id", "name", "colour"),
  }),
  {
    name: "type",
    summary: "Give a target a type, or with --remove take it away",
    args: "<id> [type]",
    completes: [targetKind, targetTypeEntity],
    writes: true,
    destructive: true,
    options: [["--remove", "take the type away"]],
    async run(session, [targetId = "", type], options) {
      if ((type === undefined) !== (options["remove"] === true)) throw usage("give a type, or --remove");
      const params = { targetId };
      if (type === undefined) await session.confirm(`Take the type of the target ${targetId} away`);
      if (type === undefined) await session.write(r.targets.removeType, { params });
      else await session.write(r.targets.setType, { params, body: { id: await idOf(session, targetTypeEntity, type) } as never });
      session.note(`target ${targetId} ${type === undefined ? "has no type" : `is a ${type}`}`);
    },
  },
  {
    name: "autoconfirm",
    summary: "Show or change whether a target confirms its actions by itself",
    args: "<id> [on|off]",
    completes: [targetKind],
    writes: true,
    options: [
      ["--initiator <name>", "who wants it"],
      ["--remark <text>", "why"],
    ],
    async run(session, [targetId = "", state], options) {
      const params = { targetId };
      if (state !== undefined && !["on", "off"].includes(state)) throw usage("on or off");
      const body = given({ initiator: text(options, "initiator"), remark: text(options, "remark") });
      if (state === "on") await session.write(r.targets.activateAutoConfirm, { params, body });
      if (state === "off") await session.write(r.targets.deactivateAutoConfirm, { params });
      await session.one(await session.read(r.targets.autoConfirm, { params }), columnsOf("active", "initiator", "remark", "activatedAt"));
    },
  },
  {
    name: "summary",
    summary: "Count targets by what they have: updatestatus, targettype, tag, installedds, assignedds, overdue, attribute.KEY",
    options: [
      ["--by <fields>", "fields, with commas; updatestatus by default"],
      ["-q, --query <fiql>", "only what the query finds"],
      ["--top <n>", "so many values of each, 20 by default"],
    ],
    async run(session, _args, options) {
      const query = { by: text(options, "by") ?? "updatestatus", q: text(options, "query"), top: text(options, "top") };
      const { facets } = await session.read(r.targets.summary, { query: query as never });
      const rows = facets.flatMap(({ by, values }) => values.map((value) => ({ by, ...value })));
      await session.rows(rows, columnsOf("by", "value", "label", "count"));
    },
  },
  rawVerb({
    name: "export",
    summary: "Write targets as CSV, by id",
    row: r.targets.exportCsv,
    options: [["-q, --query <fiql>", "only what the query finds"]],
    query: (options) => ({ q: text(options, "query") }),
  }),
  {
    name: "import",
    summary: "Create targets from a CSV file, all or none; - is standard input",
    args: "<file>",
    writes: true,
    options: [["--skip", "create those that can be created, and list the others"]],
    async run(session, [file = ""], options) {
      const body = readFileSync(file === "-" ? 0 : file, "utf8");
      const query = { onError: options["skip"] ? "skip" : "abort" } as const;
      if (session.options.curl) throw usage("an import is no line of curl: the file is what is sent");
      if (session.options.dryRun) {
        await session.print(
          `POST ${r.targets.importCsv.path}?onError=${query.onError}\n${body.split("\n").filter(Boolean).length} lines\n`,
        );
        throw new Shown();
      }
      const { created, failed, errors } = await session.write(r.targets.importCsv, { query, body });
      await session.rows(errors, columnsOf("line", "controllerId", "errorCode", "message"));
      session.note(`${created} created, ${failed} not`);
      if (failed > 0) throw new ExitError(exit.failed, "");
    },
  },
  {
    name: "change",
    summary: `Change many targets: ${Object.keys(changes).join(", ")}; by --query with --confirm and their number, or by id`,
    args: "<change> [ids...]",
    writes: true,
    options: [
      ["--tag <name>", "the tag of tag and untag"],
      ["--type <name>", "the type of set-type"],
      ["-q, --query <fiql>", "the targets to change"],
      ["--confirm <n>", "how many they are"],
      ...operationWaitOptions,
    ],
    async run(session, [what = "", ...controllerIds], options) {
      const change = changes[what];
      if (change === undefined) throw usage(`there is no change ${what}: ${Object.keys(changes).join(", ")}`);
      const q = text(options, "query");
      if ((q === undefined) === (controllerIds.length === 0)) throw usage("give ids of targets, or --query");
      const confirm = text(options, "confirm");
      if (q !== undefined && confirm === undefined) throw usage("--confirm must say how many targets the query means");
      const subject = text(options, "tag") ?? text(options, "type");
      if ((change.of === undefined) !== (subject === undefined))
        throw usage(`${what} needs ${change.of === undefined ? "neither --tag nor --type" : `its ${change.of.word}`}`);
      const body = {
        action: change.action,
        ...(q === undefined ? { controllerIds } : { q, confirm: wholeOf(confirm as string, "--confirm") }),
        ...(change.of === undefined ? {} : { [change.member as string]: await idOf(session, change.of, subject as string) }),
      };
      const operation = await session.write(r.targets.change, { body: body as never });
      await endOf(session, operation, options, "changes them");
    },
  },
];

const groupTargetColumns = columnsOf("controllerId", "name", "updateStatus", "group");

/** Groups of targets; a group exists while a target is in it. */
export const groupVerbs: readonly Verb[] = [
  {
    name: "list",
    summary: "List the groups that targets are in",
    async run(session) {
      const rows = async function* () {
        let after: string | undefined;
        for (;;) {
          const page: readonly string[] = await session.read(r.targetGroups.list, { query: given({ limit: 1_000, after }) as never });
          for (const name of page) yield { name };
          after = page.at(-1);
          if (page.length < 1_000) return;
        }
      };
      await session.rows(rows(), columnsOf("name"));
    },
  },
  {
    ...pagesVerb({
      name: "targets",
      summary: "List the targets of a group",
      row: r.targetGroups.listTargets,
      columns: groupTargetColumns,
      options: [["--subgroups", "with those below it"]],
    }),
    args: "<group>",
    async run(session, [group = ""], options) {
      const query = { group, ...(options["subgroups"] ? { subgroups: true } : {}) };
      const { query: q, ...list } = options;
      await session.rows(
        session.list(r.targetGroups.listTargets, { ...list, query: q } as object, { query: query as never }),
        groupTargetColumns,
      );
    },
  },
  ...(["assign", "unassign"] as const).map(
    (name): Verb => ({
      name,
      summary: name === "assign" ? "Put targets into a group: ids, or those of --query" : "Take targets out of their groups",
      args: name === "assign" ? "<group> [ids...]" : "[ids...]",
      writes: true,
      options: [["-q, --query <fiql>", "the targets"]],
      async run(session, args, options) {
        const [group, ids] = name === "assign" ? [args[0] ?? "", args.slice(1)] : ["", args];
        const q = text(options, "query");
        if ((q === undefined) === (ids.length === 0)) throw usage("give ids of targets, or --query");
        const of = name === "assign" ? { group } : {};
        if (q === undefined) {
          const row = name === "assign" ? r.targetGroups.assign : r.targetGroups.unassign;
          await session.write(row, { query: of, body: ids } as never);
        } else {
          const row = name === "assign" ? r.targetGroups.assignByQuery : r.targetGroups.unassignByQuery;
          await session.write(row, { query: { ...of, q } } as never);
        }
        session.note(name === "assign" ? `they are in ${group}` : "they are in no group");
      },
    }),
  ),
];

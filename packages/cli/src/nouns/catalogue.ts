import { texts } from "../command.ts";
import { usage } from "../exit.ts";
import { auditColumns, type Column, columnsOf } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import { type Entity, type Member, noun, verbsOf } from "./entity.ts";
import { metadataVerb } from "./metadata.ts";
import { pagesVerb, rowsVerb } from "./reads.ts";
import { compareVerb } from "./set-compare.ts";
import {
  described,
  description,
  moduleTypeEntity,
  named,
  setTagEntity,
  setTypeEntity,
  targetTagEntity,
  targetTypeEntity,
} from "./types.ts";

const type: Member = { flags: "--type <key>", text: "the key of its type", member: "type" };
export const moduleEntity: Entity = {
  word: "module",
  list: r.softwareModules.list,
  versioned: true,
  param: "softwareModuleId",
  columns: [
    ...named,
    { head: "VERSION", at: "version" },
    { head: "TYPE", at: "type" },
    { head: "VENDOR", at: "vendor" },
    { head: "LOCKED", at: "locked" },
    { head: "COMPLETE", at: "complete" },
    described,
    ...auditColumns,
  ],
  get: r.softwareModules.get,
  create: r.softwareModules.create,
  many: true,
  creates: [{ ...type, required: true }, description, { flags: "--vendor <name>", text: "who makes it", member: "vendor" }],
  update: r.softwareModules.update,
  updates: [
    description,
    { flags: "--vendor <name>", text: "who makes it", member: "vendor" },
    { flags: "--lock", text: "let nothing of it change any more", member: "locked" },
  ],
  delete: r.softwareModules.delete,
};

export const setEntity: Entity = {
  word: "set",
  list: r.distributionSets.list,
  versioned: true,
  param: "distributionSetId",
  columns: [
    ...named,
    { head: "VERSION", at: "version" },
    { head: "TYPE", at: "type" },
    { head: "COMPLETE", at: "complete" },
    { head: "LOCKED", at: "locked" },
    { head: "VALID", at: "valid" },
    described,
    ...auditColumns,
  ],
  get: r.distributionSets.get,
  create: r.distributionSets.create,
  many: true,
  creates: [
    { ...type, required: true },
    description,
    {
      flags: "--module <name:version...>",
      text: "a module of it; may be given many times",
      member: "modules",
      read: (value, session) =>
        Promise.all(texts({ module: value }, "module").map(async (name) => ({ id: await idOf(session, moduleEntity, name) }))),
    },
    { flags: "--lock", text: "let nothing of it change any more", member: "locked" },
    { flags: "--migration-step", text: "devices must not leave it out", member: "requiredMigrationStep" },
  ],
  update: r.distributionSets.update,
  updates: [description, { flags: "--lock", text: "let nothing of it change any more", member: "locked" }],
  delete: r.distributionSets.delete,
};

const targetColumns: readonly Column[] = [
  { head: "ID", at: "controllerId" },
  { head: "NAME", at: "name" },
  { head: "STATUS", at: "updateStatus" },
];

const ofSet = { of: setEntity };
const sets = noun(["set", "sets", "ds", "distributionset", "distributionsets"], "Distribution sets: modules that are installed together", [
  ...verbsOf(setEntity),
  metadataVerb(setEntity, r.distributionSets),
  rowsVerb({
    ...ofSet,
    name: "tags",
    summary: "List the tags of a set",
    row: r.distributionSets.tags,
    columns: columnsOf("id", "name", "colour"),
  }),
  pagesVerb({
    ...ofSet,
    name: "autoassigns",
    summary: "List the auto-assignments of a set",
    row: r.distributionSets.autoAssignments,
    columns: columnsOf("id", "name", "status", "targetFilterQuery"),
  }),
  {
    name: "modules",
    summary: "List the modules of a set",
    args: "<name>",
    completes: [setEntity],
    async run(session, [name = ""]) {
      const params = { distributionSetId: await idOf(session, setEntity, name) };
      await session.rows(session.list(r.distributionSets.listModules, { all: true }, { params }), moduleEntity.columns);
    },
  },
  {
    name: "devices",
    summary: "List the devices that a set is assigned to, or on which it is installed",
    args: "<name>",
    completes: [setEntity],
    list: true,
    options: [["--installed", "those on which it is installed"]],
    async run(session, [name = ""], options) {
      const params = { distributionSetId: await idOf(session, setEntity, name) };
      const row = options["installed"] ? r.distributionSets.listInstalledTargets : r.distributionSets.listAssignedTargets;
      await session.rows(session.list(row, options as object, { params }), targetColumns);
    },
  },
  {
    name: "lock",
    summary: "Let nothing of a set change any more",
    args: "<name>",
    completes: [setEntity],
    writes: true,
    async run(session, [name = ""]) {
      const params = { distributionSetId: await idOf(session, setEntity, name) };
      await session.one(await session.write(r.distributionSets.update, { params, body: { locked: true } }), setEntity.columns);
    },
  },
  compareVerb(setEntity),
  {
    name: "invalidate",
    summary: "Make a set invalid for good; --dry-run says what it would end",
    args: "<name>",
    completes: [setEntity],
    writes: true,
    destructive: true,
    options: [
      ["--cancel <how>", "what happens to its open actions: none (default), soft, force"],
      ["--cancel-rollouts", "stop its rollouts"],
    ],
    async run(session, [name = ""], options) {
      const params = { distributionSetId: await idOf(session, setEntity, name) };
      const how = (options["cancel"] as "none" | "soft" | "force" | undefined) ?? "none";
      if (!["none", "soft", "force"].includes(how)) throw usage("--cancel is none, soft or force");
      if (session.options.dryRun) {
        const preview = await session.read(r.distributionSets.invalidationPreview, { params });
        session.note(`it would concern ${JSON.stringify(preview)}`);
      }
      await session.confirm(`Invalidate the set ${name} for good`);
      await session.write(r.distributionSets.invalidate, {
        params,
        body: { actionCancelationType: how, cancelRollouts: options["cancelRollouts"] === true },
      });
      session.note(`set ${name} is invalid`);
    },
  },
  {
    name: "stats",
    summary: "Count the rollouts, actions and auto-assignments of a set",
    args: "<name>",
    completes: [setEntity],
    async run(session, [name = ""]) {
      const counts = await session.read(r.distributionSets.statistics, {
        params: { distributionSetId: await idOf(session, setEntity, name) },
      });
      await session.one(
        counts,
        Object.keys((counts ?? {}) as object).map((at) => ({ head: at.toUpperCase(), at })),
      );
    },
  },
]);

const modules = noun(
  ["module", "modules", "mod", "softwaremodule", "softwaremodules"],
  "Software modules: files with a name and a version",
  [...verbsOf(moduleEntity), metadataVerb(moduleEntity, r.softwareModules, [["--visible", "devices see it"]])],
);

/** Gives a set tag to sets, or takes it from them. */
function setTagVerb(name: "assign" | "unassign", summary: string) {
  return {
    name,
    summary,
    args: "<tag> <set...>",
    completes: [setTagEntity, setEntity],
    writes: true as const,
    async run(session: Parameters<typeof idOf>[0], [tag = "", ...of]: readonly string[]) {
      const params = { distributionsetTagId: await idOf(session, setTagEntity, tag) };
      const body = await Promise.all(of.map((set) => idOf(session, setEntity, set)));
      await session.write(r.distributionSetTags[name], { params, body });
      session.note(`${of.length} sets`);
    },
  };
}

const filterColumns: readonly Column[] = [
  ...named,
  { head: "QUERY", at: "query" },
  { head: "AUTO-ASSIGNS", at: "autoAssignDistributionSet" },
  ...auditColumns,
];
export const filterEntity: Entity = {
  word: "filter",
  list: r.targetFilters.list,
  param: "filterId",
  columns: filterColumns,
  get: r.targetFilters.get,
  create: r.targetFilters.create,
  creates: [{ flags: "--query <fiql>", text: "the query that it stores", member: "query", required: true }],
  update: r.targetFilters.update,
  updates: [
    { flags: "--name <name>", text: "another name", member: "name" },
    { flags: "--query <fiql>", text: "another query", member: "query" },
  ],
  delete: r.targetFilters.delete,
};
export const catalogue = [
  sets,
  modules,
  noun(["settype", "settypes"], "Types of distribution sets", verbsOf(setTypeEntity)),
  noun(["moduletype", "moduletypes"], "Types of software modules", verbsOf(moduleTypeEntity)),
  noun(["targettype", "targettypes", "devicetype", "devicetypes"], "Types of targets", verbsOf(targetTypeEntity)),
  noun(["tag", "tags"], "Tags of targets (target tag and untag give and take them)", verbsOf(targetTagEntity)),
  noun(["settag", "settags"], "Tags of distribution sets", [
    ...verbsOf(setTagEntity),
    setTagVerb("assign", "Give a tag to sets"),
    setTagVerb("unassign", "Take a tag from sets"),
  ]),
  noun(["filter", "filters", "targetfilter", "targetfilters"], "Target filters: stored queries", [
    ...verbsOf(filterEntity),
    {
      name: "count",
      summary: "Count the targets of a filter",
      args: "<name>",
      async run(session, [name = ""]) {
        const { query } = (await session.read(r.targetFilters.get, { params: { filterId: await idOf(session, filterEntity, name) } })) as {
          query: string;
        };
        const page = await session.read(r.targets.list, { query: { q: query, limit: 1, total: "exact" } });
        await session.one({ count: page.total ?? 0 }, [{ head: "COUNT", at: "count" }]);
      },
    },
  ]),
];

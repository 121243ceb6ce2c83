import { texts } from "../command.ts";
import { auditColumns, type Column } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import type { Entity, Member } from "./entity.ts";

export const description: Member = { flags: "--description <text>", text: "what it is", member: "description" };
const colour: Member = { flags: "--colour <colour>", text: "a keyword, rgb(…) or #rrggbb", member: "colour" };
export const named: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "NAME", at: "name" },
];
export const described: Column = { head: "DESCRIPTION", at: "description", wide: true };

const keyed: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "KEY", at: "key" },
  { head: "NAME", at: "name" },
  described,
  { head: "COLOUR", at: "colour", wide: true },
];
const typeMembers: readonly Member[] = [
  { flags: "--key <key>", text: "the key, which never changes", member: "key", required: true },
  description,
  colour,
];

/** The three kinds of types, each a noun of its own: `settype`, `moduletype`, `targettype`. */
export const targetTypeEntity: Entity = {
  word: "target type",
  key: true,
  list: r.targetTypes.list,
  param: "targetTypeId",
  columns: keyed,
  get: r.targetTypes.get,
  create: r.targetTypes.create,
  many: true,
  creates: [{ flags: "--key <key>", text: "the key, which never changes; the name by default", member: "key" }, description, colour],
  update: r.targetTypes.update,
  updates: [{ flags: "--name <name>", text: "another name", member: "name" }, description, colour],
  delete: r.targetTypes.delete,
};
export const moduleTypeEntity: Entity = {
  word: "module type",
  key: true,
  list: r.softwareModuleTypes.list,
  param: "softwareModuleTypeId",
  columns: keyed,
  get: r.softwareModuleTypes.get,
  create: r.softwareModuleTypes.create,
  many: true,
  creates: [...typeMembers, { flags: "--max <n>", text: "so many modules of it may be in a set", member: "maxAssignments", read: Number }],
  update: r.softwareModuleTypes.update,
  updates: [description, colour],
  delete: r.softwareModuleTypes.delete,
};
export const setTypeEntity: Entity = {
  word: "set type",
  key: true,
  list: r.distributionSetTypes.list,
  param: "distributionSetTypeId",
  columns: keyed,
  get: r.distributionSetTypes.get,
  create: r.distributionSetTypes.create,
  many: true,
  creates: [
    ...typeMembers,
    ...(["mandatory", "optional"] as const).map(
      (kind): Member => ({
        flags: `--${kind} <type...>`,
        text: `a module type that is ${kind}; may be given many times`,
        member: `${kind}modules`,
        read: (value, session) =>
          Promise.all(texts({ it: value }, "it").map(async (name) => ({ id: await idOf(session, moduleTypeEntity, name) }))),
      }),
    ),
  ],
  update: r.distributionSetTypes.update,
  updates: [description, colour],
  delete: r.distributionSetTypes.delete,
};

const tagColumns: readonly Column[] = [...named, described, { head: "COLOUR", at: "colour" }, ...auditColumns];
const tagMembers: readonly Member[] = [description, colour];
export const targetTagEntity: Entity = {
  word: "tag",
  list: r.targetTags.list,
  param: "targetTagId",
  columns: tagColumns,
  get: r.targetTags.get,
  create: r.targetTags.create,
  many: true,
  creates: tagMembers,
  update: r.targetTags.update,
  updates: [{ flags: "--name <name>", text: "another name", member: "name" }, ...tagMembers],
  delete: r.targetTags.delete,
};
export const setTagEntity: Entity = {
  word: "set tag",
  list: r.distributionSetTags.list,
  param: "distributionsetTagId",
  columns: tagColumns,
  get: r.distributionSetTags.get,
  create: r.distributionSetTags.create,
  many: true,
  creates: tagMembers,
  update: r.distributionSetTags.update,
  updates: [{ flags: "--name <name>", text: "another name", member: "name" }, ...tagMembers],
  delete: r.distributionSetTags.delete,
};

import { auditColumns } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import { setEntity } from "./catalogue.ts";
import { type Entity, noun, stepVerb, verbsOf } from "./entity.ts";
import { description, named } from "./types.ts";

export const autoAssignEntity: Entity = {
  word: "auto-assignment",
  list: r.autoAssignments.list,
  param: "autoAssignmentId",
  columns: [
    ...named,
    { head: "SET", at: "distributionSetId" },
    { head: "STATUS", at: "status" },
    { head: "TYPE", at: "actionType", wide: true },
    { head: "QUERY", at: "targetFilterQuery" },
    ...auditColumns,
  ],
  get: r.autoAssignments.get,
  create: r.autoAssignments.create,
  creates: [
    { flags: "--query <fiql>", text: "the targets that get it, now or later", member: "targetFilterQuery", required: true },
    {
      flags: "--set <name:version>",
      text: "the set that they get",
      member: "distributionSetId",
      required: true,
      read: (value, session) => idOf(session, setEntity, String(value)),
    },
    { flags: "--type <type>", text: "forced (default), soft, downloadonly", member: "actionType" },
    description,
  ],
  delete: r.autoAssignments.delete,
};
const remark = [["--remark <text>", "why"]] as const;

export const autoAssignments = noun(
  ["autoassign", "autoassigns", "autoassignment", "autoassignments"],
  "Auto-assignments: a set for every target that a query finds",
  [
    ...verbsOf(autoAssignEntity).map((verb) => ({ ...verb, aliases: { create: ["set"], delete: ["remove"] }[verb.name] ?? [] })),
    stepVerb(autoAssignEntity, { name: "start", summary: "Start one before its time", row: r.autoAssignments.start, done: "is started" }),
    stepVerb(autoAssignEntity, {
      name: "pause",
      summary: "Pause one: nothing is assigned any more",
      row: r.autoAssignments.pause,
      done: "is paused",
    }),
    stepVerb(autoAssignEntity, { name: "resume", summary: "Let a paused one go on", row: r.autoAssignments.resume, done: "goes on" }),
    stepVerb(autoAssignEntity, {
      name: "approve",
      summary: "Approve one that waits for it",
      row: r.autoAssignments.approve,
      done: "is approved",
      options: remark,
    }),
    stepVerb(autoAssignEntity, {
      name: "deny",
      summary: "Deny one that waits for approval",
      row: r.autoAssignments.deny,
      done: "is denied",
      options: remark,
    }),
  ],
);

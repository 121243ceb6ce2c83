import { text, type Verb } from "../command.ts";
import { ExitError, exit } from "../exit.ts";
import { type Column, columnsOf } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import type { ListOptions, Session } from "../session.ts";
import type { Entity } from "./entity.ts";
import { rawVerb, rowsVerb } from "./reads.ts";

const ofReport = {
  options: [
    ["--status <names>", "only actions of these statuses, with commas"],
    ["--code <codes>", "only those with these codes, with commas; none is one"],
  ],
  query: (options: Parameters<typeof text>[0]) => ({ status: text(options, "status"), code: text(options, "code") }),
} as const;

const stepColumns: readonly Column[] = [
  { head: "TIME", at: "at", time: true },
  { head: "GROUP", at: "group.name" },
  { head: "FROM", at: "previousStatus" },
  { head: "TO", at: "status" },
  { head: "BY", at: "actor" },
  { head: "REASON", at: "reason" },
  { head: "REMARK", at: "remark" },
];

async function groupOf(session: Session, rolloutId: number, given: string): Promise<number> {
  if (/^\d+$/.test(given)) return Number(given);
  for await (const { id, name } of session.list(r.rollouts.listGroups, { all: true }, { params: { rolloutId } }))
    if (name === given) return id;
  throw new ExitError(exit.notFound, `the rollout has no group ${given}`);
}

/** Verbs that read what a rollout has done. */
export function rolloutReads(rolloutEntity: Entity): Verb[] {
  return [
    {
      name: "devices",
      summary: "List the targets of a group of a rollout",
      args: "<name> <group>",
      completes: [rolloutEntity],
      list: true,
      async run(session, [name = "", group = ""], options) {
        const rolloutId = await idOf(session, rolloutEntity, name);
        const params = { rolloutId, groupId: await groupOf(session, rolloutId, group) };
        await session.rows(
          session.list(r.rollouts.groupTargets, options as ListOptions, { params }),
          columnsOf("controllerId", "name", "updateStatus", "lastControllerRequestAt"),
        );
      },
    },
    {
      name: "timeline",
      summary: "List every change of a status of a rollout, with who and why",
      args: "<name>",
      completes: [rolloutEntity],
      async run(session, [name = ""]) {
        const params = { rolloutId: await idOf(session, rolloutEntity, name) };
        await session.rows(session.list(r.rollouts.timeline, { all: true }, { params }), stepColumns);
      },
    },
    rowsVerb({
      name: "progress",
      summary: "List how the counts of a rollout have changed over time",
      row: r.rollouts.progress,
      of: rolloutEntity,
      options: [["--step <seconds>", "whole minutes"]],
      query: (options) => ({ step: text(options, "step") }),
      rows: (answer) => (answer as { points: unknown[] }).points,
      columns: [
        { head: "TIME", at: "at", time: true },
        ...columnsOf("totalTargetsPerStatus.finished", "totalTargetsPerStatus.error", "totalTargetsPerStatus.running"),
      ],
    }),
    rawVerb({
      name: "report",
      summary: "Write the targets of a rollout by status and code, as CSV",
      row: r.rollouts.reportCsv,
      of: rolloutEntity,
      ...ofReport,
    }),
    rawVerb({
      name: "insights",
      summary: "Write how many targets have which status and code, as CSV",
      row: r.rollouts.insightsCsv,
      of: rolloutEntity,
      ...ofReport,
    }),
  ];
}

import { text } from "../command.ts";
import { usage } from "../exit.ts";
import { columnsOf } from "../output/columns.ts";
import { r } from "../routes.ts";
import { noun } from "./entity.ts";
import { rowsVerb, showVerb } from "./reads.ts";

const months = {
  options: [
    ["--from <month>", "the first month, as 2026-10"],
    ["--to <month>", "the last one"],
  ],
  query: (options: Parameters<typeof text>[0]) => ({ startMonth: text(options, "from"), endMonth: text(options, "to") }),
} as const;
const top = {
  options: [["--top <n>", "so many, 10 by default"]],
  query: (options: Parameters<typeof text>[0]) => ({ top: text(options, "top") }),
} as const;
const setColumns = columnsOf("id", "name", "version", "count");
const monthColumns = columnsOf("month", "coverage", "count");

/** What the tenant's figures are, what happens, and what is found. */
export const insights = [
  noun(["insight", "insights"], "Figures of the tenant, by month and now", [
    rowsVerb({
      name: "traffic",
      summary: "Bytes that were downloaded, by month",
      row: r.insights.dataTraffic,
      columns: columnsOf("month", "coverage", "bytes"),
      ...months,
    }),
    rowsVerb({
      name: "storage",
      summary: "Bytes of artifacts at the end of each month",
      row: r.insights.artifactStorage,
      columns: columnsOf("month", "coverage", "bytes"),
      ...months,
    }),
    rowsVerb({
      name: "targets",
      summary: "Targets at the end of each month",
      row: r.insights.monthlyTargets,
      columns: monthColumns,
      ...months,
    }),
    rowsVerb({
      name: "rollouts",
      summary: "Rollouts that were created in each month",
      row: r.insights.monthlyRollouts,
      columns: monthColumns,
      ...months,
    }),
    rowsVerb({
      name: "actions",
      summary: "Actions that were created in each month, and how they ended",
      row: r.insights.monthlyActions,
      columns: columnsOf("month", "coverage", "count", "perStatus.finished", "perStatus.error", "perStatus.canceled"),
      ...months,
    }),
    showVerb({
      name: "fleet",
      summary: "Targets by update status, now",
      row: r.insights.currentTargets,
      columns: columnsOf("total", "overdue", "perUpdateStatus", "countedAt"),
    }),
    showVerb({
      name: "current-rollouts",
      summary: "Rollouts by status, now",
      row: r.insights.currentRollouts,
      columns: columnsOf("total", "perStatus"),
    }),
    rowsVerb({
      name: "installed",
      summary: "Sets that most targets have installed",
      row: r.insights.topInstalled,
      columns: setColumns,
      ...top,
    }),
    rowsVerb({
      name: "assigned",
      summary: "Sets that most targets have assigned",
      row: r.insights.topAssigned,
      columns: setColumns,
      ...top,
    }),
    rowsVerb({
      name: "versions",
      summary: "Targets by set at the end of each day",
      row: r.insights.versions,
      columns: columnsOf("day", "coverage", "total", "counts", "other"),
      options: [
        ["--by <set>", "installedds (by default) or assignedds"],
        ["--from <day>", "the first day, as 2026-10-31"],
        ["--to <day>", "the last one"],
        ["--top <n>", "so many sets, 10 by default"],
      ],
      query: (options) => ({
        by: text(options, "by"),
        startDay: text(options, "from"),
        endDay: text(options, "to"),
        top: text(options, "top"),
      }),
    }),
  ]),
  noun(["event", "events"], "Events: what happens to targets, actions and rollouts", [
    {
      name: "list",
      summary: "List the events behind a cursor, as far as they have happened",
      options: [
        ["--from <cursor>", "the cursor of an earlier answer"],
        ["--types <types>", "types, with commas"],
        ["--limit <n>", "so many, 100 by default"],
      ],
      async run(session, _args, options) {
        const query = { after: text(options, "from"), types: text(options, "types"), limit: text(options, "limit") };
        const page = await session.read(r.events.list, { query: query as never });
        await session.rows(page.content, columnsOf("time", "type", "subject", "id"));
        session.note(`next: ${page.next}`);
      },
    },
    {
      name: "tail",
      summary: "Follow events, one JSON object a line, until Ctrl-C",
      options: [
        ["--from <cursor>", "begin behind this cursor; now by default"],
        ["--types <types>", "types, with commas"],
        ["--target <id>", "those of one target"],
        ["--rollout <id>", "those of one rollout"],
        ["--changes", "only what has changed, without the events"],
      ],
      async run(session, _args, options) {
        const rollout = text(options, "rollout");
        if (rollout !== undefined && !/^\d+$/.test(rollout)) throw usage("--rollout is an id");
        const query = {
          after: text(options, "from"),
          types: text(options, "types"),
          target: text(options, "target"),
          rollout,
          changes: options["changes"] === true ? true : undefined,
        };
        const client = await session.client();
        for await (const event of client.events(r.events.stream, { query: query as never, signal: session.signal }))
          await session.print(`${JSON.stringify(event.data)}\n`);
        throw session.signal.reason;
      },
    },
  ]),
];

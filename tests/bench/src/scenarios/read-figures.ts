import { type PageSource, pageStatement } from "@harrier/query";
import pg from "pg";
import { actionList } from "../../../../apps/management/src/actions/actions.sql.ts";
import {
  countRollouts,
  fleetKind,
  readActionMonths,
  readFleet,
  readRolloutMonths,
  readStorage,
  readTargetMonths,
  readTopSets,
  readTraffic,
} from "../../../../apps/management/src/insights/insights.sql.ts";
import { readVersionDays } from "../../../../apps/management/src/insights/versions.sql.ts";
import { findFailures } from "../../../../apps/rollout-engine/src/failures/failures.sql.ts";
import { memberList } from "../../../../apps/rollout-engine/src/groups/groups.sql.ts";
import { compareReads, type Sides } from "../lib/compare-reads.ts";
import type { Bench } from "../lib/context.ts";
import { entriesPerAction, failuresSql, figuresSql, membersOfGroup, rolloutId, settleFigures } from "../lib/read-figures.sql.ts";

const size = 200;
/** A page of actions with the last message of each takes so many milliseconds at most where it is not counted (contract console.md §1, M02). */
const maxPage = 10;
/** A year of any insight takes so many milliseconds at most. */
const maxInsight = 20;
/** The kinds of failures of a rollout with 50,000 errors take so many milliseconds at most. */
const maxFailures = 100;

/** Measures reads of actions with a long history, a year of each insight, and the failures of a rollout with 50,000 errors. */
export async function benchFigures(bench: Bench, sides: Sides): Promise<void> {
  const { admin } = sides;
  for (const sql of [failuresSql, figuresSql, settleFigures]) await admin.query(sql);
  const source: PageSource = actionList(1, null);
  const page = pageStatement(source, { orderBy: "t.id asc", limit: size, offset: 0, total: "none", positions: true });
  await compareReads(bench, sides, {
    figure: `actions of ${entriesPerAction} entries each with the last message, total=none`,
    ours: { text: page.sql, values: [...page.bindings] },
    best: bestActions,
    limit: maxPage,
  });
  for (const [figure, { name, text }, values, best] of insights()) {
    await compareReads(bench, sides, { figure, ours: { name, text, values }, best, limit: maxInsight });
  }
  const engine = new pg.Client({ connectionString: bench.stack.databaseUrls["rollout-engine"] });
  await engine.connect();
  try {
    const { source: members } = memberList(1, { rolloutId, groupId: rolloutId }, null);
    const ofGroup = pageStatement(members, { orderBy: "t.controller_id asc", limit: size, offset: 0, total: "none", positions: true });
    await compareReads(
      bench,
      { admin, client: engine },
      {
        figure: `targets of a group of ${membersOfGroup.toLocaleString("en")}, total=none`,
        ours: { text: ofGroup.sql, values: [...ofGroup.bindings] },
        best: bestMembers,
      },
    );
    await compareReads(
      bench,
      { admin, client: engine },
      {
        figure: "failures of a rollout with 50,000 errors of 6,000 kinds",
        ours: { name: findFailures.name, text: findFailures.text, values: [1, rolloutId, null, null, 50] },
        best: bestFailures,
        limit: maxFailures,
      },
    );
  } finally {
    await engine.end();
  }
}

const bestMembers = `
  select t.*, s.*, p.last_poll_at, y.name as type_name
    from controller.targets t
    join controller.target_state s on s.tenant_id = 1 and s.target_id = t.id
    left join controller.target_polls p on p.tenant_id = 1 and p.target_id = t.id
    left join management.target_types y on y.tenant_id = 1 and y.id = t.target_type_id
   where t.tenant_id = 1
     and t.id in (select target_id from rollout_engine.group_members where tenant_id = 1 and rollout_id = ${rolloutId} and group_id = ${rolloutId})
   order by t.controller_id limit ${size}`;

const bestActions = `
  select a.*, t.name, s.name, s.version, m.message
    from (select * from controller.actions where tenant_id = 1 order by id limit ${size}) a
    join controller.targets t on t.tenant_id = 1 and t.id = a.target_id
    left join management.distribution_sets s on s.tenant_id = 1 and s.id = a.set_id
    left join lateral (select left(h.messages[cardinality(h.messages)], 512) as message from controller.action_history h
                        where h.tenant_id = 1 and h.action_id = a.id order by h.revision desc limit 1) m on true
   order by a.id`;

const bestFailures = `
  select code, message, sum(n) as n, min(first_at), max(last_at), min(sample) as sample from controller.rollout_failures
   where tenant_id = 1 and rollout_id = ${rolloutId} group by key, code, message order by n desc limit 50`;

type Insight = [figure: string, ours: { name: string; text: string }, values: unknown[], best: string];

/** The insights of the year that ends with this month; each has its best statement over the tables themselves. */
function insights(): Insight[] {
  const now = new Date();
  const monthOf = (back: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 10);
  const dayOf = (back: number) => new Date(now.getTime() - back * 86_400_000).toISOString().slice(0, 10);
  const [first, last] = [monthOf(11), monthOf(0)];
  const year = [1, first, last];
  const months = (table: string) => `select * from ${table} where tenant_id = 1 and month between '${first}' and '${last}' order by month`;
  const counted = (kind: number) =>
    `select key, sum(n) as n from controller.fleet_counts where tenant_id = 1 and kind = ${kind} group by key`;
  return [
    ["insight: traffic of a year", readTraffic, year, months("artifact_store.data_traffic")],
    ["insight: storage of a year", readStorage, year, months("management.artifact_storage_months")],
    ["insight: targets of a year", readTargetMonths, year, months("controller.monthly_counts")],
    ["insight: actions of a year", readActionMonths, year, months("controller.monthly_counts")],
    ["insight: rollouts of a year", readRolloutMonths, year, months("rollout_engine.rollout_months")],
    [
      "insight: versions of a year",
      readVersionDays,
      [1, fleetKind.installedSet, dayOf(365), dayOf(1), null, 10],
      `select day, key, sum(n) from controller.fleet_days where tenant_id = 1 and kind = 1 and day between '${dayOf(365)}' and '${dayOf(1)}' group by 1, 2`,
    ],
    ["insight: targets now", readFleet, [1, null], counted(fleetKind.updateStatus)],
    ["insight: sets installed most", readTopSets, [1, fleetKind.installedSet, null, 500], `${counted(1)} order by n desc limit 500`],
    [
      "insight: rollouts now",
      countRollouts,
      [1, null],
      "select status, count(*) from rollout_engine.rollouts where tenant_id = 1 and not deleted group by 1",
    ],
  ];
}

import { type RolloutGroupInsights, type RolloutGroupReport, rolloutReports } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import { type Mount, type RequestContext, sendCsv } from "@harrier/service";
import { checkReach } from "../rollouts/check-reach.ts";
import {
  byStatusAndCode,
  csvOfInsights,
  csvOfReport,
  type GroupCells,
  type ReportRequest,
  readInsights,
  readReport,
} from "./read-reports.ts";
import type { CountedCell, ListedCell } from "./reports.sql.ts";

type Reports = typeof rolloutReports;
type Context = RequestContext<Reports[keyof Reports]>;

const groupReport = ({ cells, ...head }: GroupCells<ListedCell>): RolloutGroupReport => ({
  ...head,
  targetsPerStatus: byStatusAndCode(cells, ({ controllerIds }) => controllerIds),
});
const groupInsights = ({ cells, ...head }: GroupCells<CountedCell>): RolloutGroupInsights => ({
  ...head,
  targetsPerStatusAndCode: byStatusAndCode(cells, ({ targets }) => targets),
});

/** Mounts the reports and insights of rollouts (spec 001 §4.8). */
export function mountReports(mount: Mount, deps: { db: Database }): void {
  const requestOf = async ({ identity, params, query }: Pick<Context, "identity" | "params" | "query">): Promise<ReportRequest> => {
    const groupId = "groupId" in params ? params.groupId : undefined;
    await checkReach(deps, identity, params.rolloutId);
    return { principal: identity, rolloutId: params.rolloutId, groupId: groupId as number | undefined, filter: query };
  };

  mount(rolloutReports.report, async (ctx) => {
    const { groups, ...head } = await readReport(deps, await requestOf(ctx));
    return { body: { ...head, groupReports: groups.map(groupReport) } };
  });
  mount(rolloutReports.groupReport, async (ctx) => {
    const { groups } = await readReport(deps, await requestOf(ctx));
    return { body: groups.map(groupReport)[0] };
  });
  mount(rolloutReports.insights, async (ctx) => {
    const { groups, ...head } = await readInsights(deps, await requestOf(ctx));
    return { body: { ...head, groupInsights: groups.map(groupInsights) } };
  });
  mount(rolloutReports.groupInsights, async (ctx) => {
    const { groups } = await readInsights(deps, await requestOf(ctx));
    return { body: groups.map(groupInsights)[0] };
  });

  for (const route of [rolloutReports.reportCsv, rolloutReports.groupReportCsv]) {
    mount(route, async (ctx) => sendCsv(ctx, { name: "report" }, await csvOfReport(deps, await requestOf(ctx))));
  }
  for (const route of [rolloutReports.insightsCsv, rolloutReports.groupInsightsCsv]) {
    mount(route, async (ctx) => sendCsv(ctx, { name: "insights" }, await csvOfInsights(deps, await requestOf(ctx))));
  }
}

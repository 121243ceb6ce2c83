import { z } from "zod";
import { ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { pathId } from "../values.ts";
import { actionStatusWords } from "./action-view.ts";

/** Stands for actions that no report with a code has reached yet, in answers and in the filter. */
export const noCode = "none";

/** More values than there are codes worth naming in one request are refused before anything is read. */
const maxCodes = 100;

/** Reads a list with commas, from one parameter or from several; nothing and an empty text select everything. `read` answers nothing for a wrong word. */
function listOf<T>(read: (word: string) => readonly T[], { most, what }: { most: number; what: string }) {
  return z
    .unknown()
    .transform((value, context): T[] | undefined => {
      const words = [value ?? ""]
        .flat()
        .flatMap((text) => String(text).split(","))
        .map((word) => word.trim())
        .filter((word) => word !== "");
      if (words.length === 0) return undefined;
      if (words.length > most) context.addIssue({ code: "custom", message: `must have at most ${most} values` });
      const values = words.slice(0, most).flatMap((word) => read(word.toLowerCase()));
      if (values.length < Math.min(words.length, most)) context.addIssue({ code: "custom", message: what });
      return values;
    })
    .optional();
}

const status = listOf(
  (word) => {
    const code = (actionStatusWords as string[]).indexOf(word);
    return code < 0 ? [] : [code];
  },
  { most: actionStatusWords.length, what: `must be some of ${actionStatusWords.join(", ")}` },
);

const code = listOf(
  (word): (number | null)[] => {
    if (word === noCode) return [null];
    return /^[+-]?\d{1,10}$/.test(word) && Number(word) === (Number(word) | 0) ? [Number(word)] : [];
  },
  { most: maxCodes, what: `must be whole numbers of 32 bits, or ${noCode}` },
);

/** Which actions of a rollout count: those with one of the statuses and one of the codes, null being the lack of one. */
const filter = z.object({
  status: shownAs(status, { type: "string", example: "error,canceled" }),
  code: shownAs(code, { type: "string", example: "-1,none" }),
});
export type ReportFilter = z.output<typeof filter>;

const count = z.int().min(0);
const head = { name: z.string(), id: z.int(), totalTargets: count };
const groupHead = { groupName: z.string(), groupId: z.int(), totalTargets: count };

/** The targets of a group by the status of their action and the code that the device has reported last (spec 001 §4.8). */
export const rolloutGroupReport = z
  .object({ ...groupHead, targetsPerStatus: z.record(z.string(), z.record(z.string(), z.array(z.string()))) })
  .meta({ id: "RolloutGroupReport" });
export type RolloutGroupReport = z.output<typeof rolloutGroupReport>;

export const rolloutReport = z.object({ ...head, groupReports: z.array(rolloutGroupReport) }).meta({ id: "RolloutReport" });
export type RolloutReport = z.output<typeof rolloutReport>;

/** The same as counts (spec 001 §4.8). */
export const rolloutGroupInsights = z
  .object({ ...groupHead, targetsPerStatusAndCode: z.record(z.string(), z.record(z.string(), count)) })
  .meta({ id: "RolloutGroupInsights" });
export type RolloutGroupInsights = z.output<typeof rolloutGroupInsights>;

export const rolloutInsights = z.object({ ...head, groupInsights: z.array(rolloutGroupInsights) }).meta({ id: "RolloutInsights" });
export type RolloutInsights = z.output<typeof rolloutInsights>;

/** The columns of the same as CSV. */
export const rolloutReportColumns = ["groupId", "groupName", "status", "code", "controllerId"] as const;
export const rolloutInsightsColumns = ["groupId", "groupName", "status", "code", "targets"] as const;

const common = {
  service: "rollout-engine",
  interface: "management",
  method: "GET",
  query: filter,
  success: ok,
  source: "spec 001 §4.8",
} as const;
const ofRollout = { ...common, params: z.object({ rolloutId: pathId }) } as const;
const ofGroup = { ...common, params: z.object({ rolloutId: pathId, groupId: pathId }) } as const;
const path = "/rollouts/:rolloutId";
const group = `${path}/deploygroups/:groupId`;
// A report lists controllerIds, so it needs what a list of targets needs.
const listing = { permission: ["READ_ROLLOUT", "READ_TARGET"], errors: ["constraintViolation", "entityNotFound"] } as const;
const counting = { permission: ["READ_ROLLOUT"], errors: ["constraintViolation", "entityNotFound"] } as const;

/** Reports and insights of rollouts (spec 001 §4.8). */
export const rolloutReports = routesOf(
  "rollouts",
  {},
  {
    report: {
      ...ofRollout,
      ...listing,
      path: `${path}/report`,
      response: rolloutReport,
      summary: "List the targets of a rollout by status and code of their action, at most 100,000",
    },
    reportCsv: {
      ...ofRollout,
      ...listing,
      path: `${path}/report.csv`,
      responseType: "text/csv",
      summary: "Get the targets of a rollout, however many, with status and code of their action as CSV",
    },
    groupReport: {
      ...ofGroup,
      ...listing,
      path: `${group}/report`,
      response: rolloutGroupReport,
      summary: "List the targets of a rollout group by status and code of their action, at most 100,000",
    },
    groupReportCsv: {
      ...ofGroup,
      ...listing,
      path: `${group}/report.csv`,
      responseType: "text/csv",
      summary: "Get the targets of a rollout group, however many, with status and code of their action as CSV",
    },
    insights: {
      ...ofRollout,
      ...counting,
      path: `${path}/insights`,
      response: rolloutInsights,
      summary: "Count the targets of a rollout by status and code of their action",
    },
    insightsCsv: {
      ...ofRollout,
      ...counting,
      path: `${path}/insights.csv`,
      responseType: "text/csv",
      summary: "Count the targets of a rollout by status and code of their action, as CSV",
    },
    groupInsights: {
      ...ofGroup,
      ...counting,
      path: `${group}/insights`,
      response: rolloutGroupInsights,
      summary: "Count the targets of a rollout group by status and code of their action",
    },
    groupInsightsCsv: {
      ...ofGroup,
      ...counting,
      path: `${group}/insights.csv`,
      responseType: "text/csv",
      summary: "Count the targets of a rollout group by status and code of their action, as CSV",
    },
  },
);

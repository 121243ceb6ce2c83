import { z } from "zod";
import { rolloutStatusNames, updateStatusNames } from "../codes.ts";
import { queryInt } from "../paging.ts";
import { firstUnlessEmpty } from "../query-text.ts";
import { ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";

/** A month in a query; an absent or empty text gives undefined, and any other that is no month violates a constraint. */
const month = shownAs(
  z
    .preprocess(firstUnlessEmpty, z.string().optional())
    .refine((text) => text === undefined || /^(19[7-9]\d|[2-9]\d{3})-(0[1-9]|1[0-2])$/.test(text), "must be a month of the form YYYY-MM"),
  { type: "string", example: "2026-10" },
);
const monthsQuery = z.object({ startMonth: month, endMonth: month });
export type MonthsQuery = z.output<typeof monthsQuery>;

/** A list of sets has ten unless the caller asks for another number (contract management.md §10.6). */
const top = z.object({ top: queryInt(10, (value) => (value < 1 ? 10 : Math.min(500, value))) });

/** How much is known of a month: all of it, what has happened since the counting began in it, or nothing. */
export const coverages = ["full", "partial", "none"] as const;
export type Coverage = (typeof coverages)[number];

const count = z.int().min(0);
const ofMonth = { month: z.string(), coverage: z.enum(coverages) };
const monthly = <T extends z.ZodRawShape>(id: string, figures: T) =>
  z.object({ content: z.array(z.object({ ...ofMonth, ...figures }).meta({ id: `${id}Month` })) }).meta({ id });

export const dataTrafficInsights = monthly("DataTrafficInsights", { bytes: count.optional() });
export const artifactStorageInsights = monthly("ArtifactStorageInsights", { bytes: count.optional() });
export const targetInsights = monthly("TargetCountInsights", { count: count.optional() });
export const rolloutCountInsights = monthly("RolloutCountInsights", { count: count.optional() });
export const actionInsights = monthly("ActionCountInsights", {
  count: count.optional(),
  perStatus: z.object({ finished: count, error: count, canceled: count }).meta({ id: "EndedActions" }).optional(),
});

const counted = (names: readonly string[]) => z.object(Object.fromEntries(names.map((name) => [name, count])));

/** The fleet as it was counted last. */
export const currentTargets = z
  .object({
    total: count,
    perUpdateStatus: counted(updateStatusNames).meta({ id: "TargetsPerUpdateStatus" }),
    overdue: count,
    countedAt: z.int().optional(),
  })
  .meta({ id: "CurrentTargets" });
export type CurrentTargets = z.output<typeof currentTargets>;

/** The statuses of rollouts that are there; a deleted one is counted nowhere. */
export const presentRolloutStatuses = rolloutStatusNames.filter((name) => name !== "deleted");
export const currentRollouts = z
  .object({ total: count, perStatus: counted(presentRolloutStatuses).meta({ id: "RolloutsPerStatus" }) })
  .meta({ id: "CurrentRollouts" });
export type CurrentRollouts = z.output<typeof currentRollouts>;

export const setCounts = z.array(
  z.object({ id: z.int(), name: z.string(), version: z.string(), count }).meta({ id: "DistributionSetCount" }),
);
export type SetCounts = z.output<typeof setCounts>;

/** A day in a query; an absent or empty text gives undefined, and any other that is no day violates a constraint. */
const day = shownAs(
  z
    .preprocess(firstUnlessEmpty, z.string().optional())
    .refine((text) => text === undefined || (/^(19[7-9]\d|[2-9]\d{3})-/.test(text) && z.iso.date().safeParse(text).success), {
      error: "must be a day of the form YYYY-MM-DD",
    }),
  { type: "string", example: "2026-10-31" },
);
const oneOf = <const W extends readonly [string, ...string[]]>(words: W) =>
  shownAs(
    z
      .preprocess(firstUnlessEmpty, z.string().optional())
      .transform((text) => text ?? words[0])
      .refine((word): word is W[number] => words.includes(word), { error: `must be one of ${words.join(", ")}` }),
    { type: "string", enum: [...words], default: words[0] },
  );
const versionsBy = ["installedds", "assignedds"] as const;
const versionSteps = ["day"] as const;
const versionsQuery = z.object({
  by: oneOf(versionsBy),
  step: oneOf(versionSteps),
  startDay: day,
  endDay: day,
  top: queryInt(10, (value) => (value < 1 ? 10 : Math.min(100, value))),
});
export type VersionsQuery = z.output<typeof versionsQuery>;

const versionDay = z
  .object({
    day: z.string(),
    coverage: z.enum(coverages),
    countedAt: z.int().optional(),
    total: count.optional(),
    counts: z.array(z.object({ id: z.int(), count }).meta({ id: "VersionCount" })).optional(),
    other: count.optional(),
  })
  .meta({ id: "VersionDay" });
export const versionInsights = z
  .object({
    by: z.enum(versionsBy),
    step: z.enum(versionSteps),
    content: z.array(versionDay),
    sets: z.array(z.object({ id: z.int(), name: z.string(), version: z.string() }).meta({ id: "VersionSet" })),
  })
  .meta({ id: "VersionInsights" });
export type VersionInsights = z.output<typeof versionInsights>;

const common = { service: "management", interface: "management", method: "GET", success: ok, source: "spec 001 §4.8" } as const;
const ofTargets = { ...common, permission: ["READ_TARGET"] } as const;
const ofRepository = { ...common, permission: ["READ_REPOSITORY"] } as const;
const perMonth = { query: monthsQuery, errors: ["constraintViolation"] } as const;
const path = "/insights";

/** Insights of the tenant (spec 001 §4.8; contract management.md §10.6). */
export const insights = routesOf(
  "insights",
  {},
  {
    dataTraffic: {
      ...ofTargets,
      ...perMonth,
      path: `${path}/data-traffic`,
      response: dataTrafficInsights,
      summary: "Get the bytes that devices and users have downloaded, by month",
    },
    artifactStorage: {
      ...ofTargets,
      ...perMonth,
      path: `${path}/artifact-storage`,
      response: artifactStorageInsights,
      summary: "Get the bytes of artifacts at the end of each month",
    },
    currentTargets: {
      ...ofTargets,
      path: `${path}/targets/current`,
      response: currentTargets,
      errors: [],
      summary: "Count the targets by update status, and those that are overdue",
    },
    monthlyTargets: {
      ...ofTargets,
      ...perMonth,
      path: `${path}/targets/monthly`,
      response: targetInsights,
      summary: "Get the number of targets at the end of each month",
    },
    currentRollouts: {
      ...ofRepository,
      path: `${path}/rollouts/current`,
      response: currentRollouts,
      errors: [],
      summary: "Count the rollouts by status",
    },
    monthlyRollouts: {
      ...ofRepository,
      ...perMonth,
      path: `${path}/rollouts/monthly`,
      response: rolloutCountInsights,
      summary: "Get how many rollouts were created in each month",
    },
    monthlyActions: {
      ...ofRepository,
      ...perMonth,
      path: `${path}/actions/monthly`,
      response: actionInsights,
      summary: "Get how many actions were created in each month, and how many ended in which way",
    },
    topInstalled: {
      ...ofRepository,
      path: `${path}/distributionsets/top-installed`,
      query: top,
      response: setCounts,
      errors: [],
      summary: "Get the distribution sets that most targets have installed",
    },
    topAssigned: {
      ...ofRepository,
      path: `${path}/distributionsets/top-assigned`,
      query: top,
      response: setCounts,
      errors: [],
      summary: "Get the distribution sets that most targets have assigned",
    },
    versions: {
      ...ofRepository,
      path: `${path}/versions`,
      query: versionsQuery,
      response: versionInsights,
      errors: ["constraintViolation"],
      summary: "Get how many targets had which distribution set at the end of each day",
      source: "contract console.md §1",
    },
  },
);

import {
  type Coverage,
  type CurrentRollouts,
  type CurrentTargets,
  type MonthsQuery,
  presentRolloutStatuses,
  type SetCounts,
  updateStatusNames,
} from "@harrier/contracts";
import { type Database, run, type Statement } from "@harrier/db";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import {
  countRollouts,
  type FigureRow,
  fleetKind,
  readActionMonths,
  readFleet,
  readRolloutMonths,
  readStorage,
  readTargetMonths,
  readTopSets,
  readTraffic,
} from "./insights.sql.ts";
import { coverageOfEvents, coverageOfLevel, type Known, monthsOf } from "./months.ts";

export interface InsightDeps {
  db: Pick<Database, "pool">;
  now: () => number;
}

/** A month with its figures; they are absent where nothing is known of it, because that is not zero. */
export interface Figure {
  month: string;
  coverage: Coverage;
  value?: number;
}

type MonthsStatement<Row> = Statement<readonly [tenantId: number, first: string, last: string], Row>;

async function rowsOf<Row>(deps: InsightDeps, which: MonthsStatement<Row>, tenantId: number, query: MonthsQuery): Promise<Row[]> {
  const { first, last } = monthsOf(query, deps.now());
  return run(deps.db.pool, which, [tenantId, first, last]);
}

const known = (coverage: Coverage, month: string, value: number): Figure =>
  coverage === "none" ? { month, coverage } : { month, coverage, value };

async function figuresOf(
  deps: InsightDeps,
  which: MonthsStatement<FigureRow>,
  { tenantId, query, coverageOf }: { tenantId: number; query: MonthsQuery; coverageOf: (of: Known, value: number | null) => Coverage },
): Promise<Figure[]> {
  const rows = await rowsOf(deps, which, tenantId, query);
  const now = deps.now();
  return rows.map(({ month, value, ...since }) => known(coverageOf({ month, now, ...since }, value), month, value ?? 0));
}

/** Reads the bytes sent in each month; they have been counted since the tenant was created. Throws constraintViolation, like all of these. */
export function monthlyTraffic(deps: InsightDeps, tenantId: number, query: MonthsQuery): Promise<Figure[]> {
  return figuresOf(deps, readTraffic, { tenantId, query, coverageOf: coverageOfEvents });
}

/** Reads the bytes of artifacts at the end of each month; nothing is known of it before the first of them. */
export function monthlyStorage(deps: InsightDeps, tenantId: number, query: MonthsQuery): Promise<Figure[]> {
  const coverageOf = (of: Known, value: number | null): Coverage => (value === null ? "none" : coverageOfLevel(of));
  return figuresOf(deps, readStorage, { tenantId, query, coverageOf });
}

/** Reads how many rollouts were created in each month. */
export function monthlyRollouts(deps: InsightDeps, tenantId: number, query: MonthsQuery): Promise<Figure[]> {
  return figuresOf(deps, readRolloutMonths, { tenantId, query, coverageOf: coverageOfEvents });
}

/** Reads the number of targets at the end of each month. */
export async function monthlyTargets(deps: InsightDeps, tenantId: number, query: MonthsQuery): Promise<Figure[]> {
  const rows = await rowsOf(deps, readTargetMonths, tenantId, query);
  const now = deps.now();
  return rows.map(({ month, count, ...since }) => known(coverageOfLevel({ month, now, ...since }), month, Math.max(0, count)));
}

export interface ActionFigure {
  month: string;
  coverage: Coverage;
  count?: number;
  perStatus?: { finished: number; error: number; canceled: number };
}

/** Reads how many actions were created in each month, and how many ended in it. */
export async function monthlyActions(deps: InsightDeps, tenantId: number, query: MonthsQuery): Promise<ActionFigure[]> {
  const rows = await rowsOf(deps, readActionMonths, tenantId, query);
  const now = deps.now();
  return rows.map(({ month, created, finished, error, canceled, ...since }) => {
    const coverage = coverageOfEvents({ month, now, ...since });
    if (coverage === "none") return { month, coverage };
    return { month, coverage, count: created ?? 0, perStatus: { finished: finished ?? 0, error: error ?? 0, canceled: canceled ?? 0 } };
  });
}

type Viewer = Pick<Identity, "tenantId" | "targetTypeScopes">;

/** Reads the fleet as it was counted last; a user restricted to target types gets the targets of these. */
export async function readCurrentTargets({ db }: Pick<InsightDeps, "db">, viewer: Viewer): Promise<CurrentTargets> {
  const rows = await run(db.pool, readFleet, [viewer.tenantId, scopeOf(viewer, "READ_TARGET")]);
  const countOf = (kind: number, key: number): number => rows.find((row) => row.kind === kind && row.key === key)?.n ?? 0;
  const perUpdateStatus = Object.fromEntries(updateStatusNames.map((name, status) => [name, countOf(fleetKind.updateStatus, status)]));
  const countedAt = rows[0]?.countedAt ?? null;
  return {
    total: Object.values(perUpdateStatus).reduce((sum, n) => sum + n, 0),
    perUpdateStatus,
    overdue: countOf(fleetKind.overdue, 0),
    ...(countedAt === null ? {} : { countedAt }),
  };
}

/** Counts the rollouts by status; a user restricted to target types gets those that reach no further (ADR 16). */
export async function readCurrentRollouts({ db }: Pick<InsightDeps, "db">, viewer: Viewer): Promise<CurrentRollouts> {
  const rows = await run(db.pool, countRollouts, [viewer.tenantId, scopeOf(viewer, "READ_TARGET", "READ_ROLLOUT")]);
  const perStatus = Object.fromEntries(presentRolloutStatuses.map((name) => [name, rows.find(({ status }) => status === name)?.n ?? 0]));
  return { total: rows.reduce((sum, { n }) => sum + n, 0), perStatus };
}

/** Reads the sets that most targets have, installed or assigned, as the fleet was counted last. */
export function readTop(
  { db }: Pick<InsightDeps, "db">,
  viewer: Viewer,
  { kind, top }: { kind: "installedSet" | "assignedSet"; top: number },
): Promise<SetCounts> {
  return run(db.pool, readTopSets, [viewer.tenantId, fleetKind[kind], scopeOf(viewer, "READ_TARGET"), top]);
}

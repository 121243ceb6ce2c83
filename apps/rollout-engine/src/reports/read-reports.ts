import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  type ActionStatus,
  actionStatusWord,
  noCode,
  type ReportFilter,
  rolloutInsightsColumns,
  rolloutReportColumns,
} from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { csvRecord } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { visibleReach } from "../rollouts/check-reach.ts";
import {
  type CountedCell,
  countCells,
  countGroupCells,
  type Filter,
  findParts,
  type ListedCell,
  listCells,
  listGroupCells,
  nextGroupLines,
  nextLines,
  type ReportLine,
} from "./reports.sql.ts";

interface Deps {
  db: Database;
}

/** What a report is about: a rollout or one of its groups, and which of its actions. */
export interface ReportRequest {
  principal: Pick<Principal, "tenantId" | "targetTypeScopes">;
  rolloutId: number;
  groupId?: number | undefined;
  filter: ReportFilter;
}

/** A JSON answer holds so many targets, and insights so many pairs of status and code: devices choose their codes. The CSV has no limit. */
export const maxInReport = 100_000;

/** So many lines of a CSV are in memory at a time. */
const chunkSize = 1_000;

/** A rollout or group with its rows by group; a group without any has an empty list. */
export interface GroupCells<Cell> {
  groupName: string;
  groupId: number;
  totalTargets: number;
  cells: (Cell & { status: number })[];
}

export interface RolloutCells<Cell> {
  name: string;
  id: number;
  totalTargets: number;
  groups: GroupCells<Cell>[];
}

function filterOf({ filter, principal }: ReportRequest): Filter {
  const codes = filter.code?.filter((code) => code !== null) ?? null;
  return [filter.status ?? null, codes, filter.code?.includes(null) === true, visibleReach(principal)];
}

/** Counts the targets of a rollout or group by status and code, in one round trip (spec 001 §4.8). Throws entityNotFound, constraintViolation. */
export async function readInsights(deps: Deps, request: ReportRequest): Promise<RolloutCells<CountedCell>> {
  const { principal, rolloutId, groupId } = request;
  const values = [principal.tenantId, rolloutId, ...filterOf(request), maxInReport + 1] as const;
  const { pool } = deps.db;
  const rows = await (groupId === undefined ? run(pool, countCells, values) : run(pool, countGroupCells, [...values, groupId]));
  return gather(rows, request, () => 1);
}

/** Lists the targets of a rollout or group by status and code, in one round trip (spec 001 §4.8). Throws entityNotFound, constraintViolation. */
export async function readReport(deps: Deps, request: ReportRequest): Promise<RolloutCells<ListedCell>> {
  const { principal, rolloutId, groupId } = request;
  const values = [principal.tenantId, rolloutId, ...filterOf(request), maxInReport + 1] as const;
  const { pool } = deps.db;
  const rows = await (groupId === undefined ? run(pool, listCells, values) : run(pool, listGroupCells, [...values, groupId]));
  return gather(rows, request, ({ controllerIds }) => controllerIds.length);
}

function gather<Cell extends CountedCell | ListedCell>(
  rows: readonly Cell[],
  { rolloutId, groupId }: ReportRequest,
  sizeOf: (cell: Cell) => number,
): RolloutCells<Cell> {
  const [head] = rows;
  if (head === undefined) throw entityNotFound("Rollout", rolloutId);
  if (groupId !== undefined && head.groupId === null) throw entityNotFound("RolloutGroup", groupId);
  const groups = new Map<number, GroupCells<Cell>>();
  let size = 0;
  for (const row of rows) {
    if (row.groupId === null) continue;
    const known = groups.get(row.groupId);
    const group = known ?? { groupName: row.groupName, groupId: row.groupId, totalTargets: row.groupTargets, cells: [] };
    if (known === undefined) groups.set(row.groupId, group);
    if (row.status === null) continue;
    size += sizeOf(row);
    group.cells.push({ ...row, status: row.status });
  }
  if (size > maxInReport) {
    const why = `The answer would have more than ${maxInReport} entries: select by status and code, ask group by group, or for the CSV.`;
    throw new HarrierError("constraintViolation", why);
  }
  return { name: head.rolloutName, id: head.rolloutId, totalTargets: head.totalTargets, groups: [...groups.values()] };
}

const wordOf = (status: number): string => actionStatusWord(status as ActionStatus);

/** Answers the cells of a group as a map of status to a map of code to what `show` makes of them. */
export function byStatusAndCode<Cell extends { status: number; code: number | null }, T>(
  cells: readonly Cell[],
  show: (cell: Cell) => T,
): Record<string, Record<string, T>> {
  const found: Record<string, Record<string, T>> = {};
  for (const cell of cells) {
    const codes = found[wordOf(cell.status)] ?? {};
    found[wordOf(cell.status)] = codes;
    codes[cell.code ?? noCode] = show(cell);
  }
  return found;
}

export type Send = (to: NodeJS.WritableStream) => Promise<void>;

/** Answers the insights as CSV, a line for each group, status and code. */
export async function csvOfInsights(deps: Deps, request: ReportRequest): Promise<Send> {
  const { groups } = await readInsights(deps, request);
  const records = groups.flatMap(({ groupId, groupName, cells }) =>
    cells.map(({ status, code, targets }) => csvRecord([groupId, groupName, wordOf(status), code ?? noCode, targets])),
  );
  return (to) => pipeline(Readable.from([csvRecord([...rolloutInsightsColumns]), ...records]), to);
}

/**
 * Streams the report as CSV, a line for each target, by group and target, as fast as the client reads. A target whose status changes meanwhile
 * appears once, with the one that it had when its line was read.
 */
export async function csvOfReport(deps: Deps, request: ReportRequest): Promise<Send> {
  const { principal, rolloutId, groupId } = request;
  const { pool } = deps.db;
  // what is unknown is reported before anything is sent
  const parts = await runOne(pool, findParts, [principal.tenantId, rolloutId, groupId ?? null]);
  if (parts === undefined) throw entityNotFound("Rollout", rolloutId);
  if (!parts.group) throw entityNotFound("RolloutGroup", groupId ?? 0);
  const filter = filterOf(request);
  const next = (afterGroup: number, afterTarget: number): Promise<ReportLine[]> => {
    const values = [principal.tenantId, rolloutId, ...filter, chunkSize, afterGroup, afterTarget] as const;
    return groupId === undefined ? run(pool, nextLines, values) : run(pool, nextGroupLines, [...values, groupId]);
  };
  async function* records(): AsyncGenerator<string> {
    yield csvRecord([...rolloutReportColumns]);
    for (let rows = await next(-1, -1); rows.length > 0; ) {
      yield rows.map((row) => csvRecord([row.groupId, row.groupName, wordOf(row.status), row.code ?? noCode, row.controllerId])).join("");
      const last = rows.at(-1);
      rows = rows.length < chunkSize || last === undefined ? [] : await next(last.groupId, last.targetId);
    }
  }
  return (to) => pipeline(Readable.from(records()), to);
}

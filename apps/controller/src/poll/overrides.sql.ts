import { type Ast, compile, parse, targetFields } from "@harrier/fiql";
import type { PollingPlan } from "../settings/polling-plan.ts";
import { type PollStatements, pollStatements } from "./poll.sql.ts";

/** The statements of a tenant whose polling time depends on queries, and the values of their parameters from $4 on. */
export interface OverridingStatements {
  statements: PollStatements;
  values(): readonly unknown[];
}

interface Term {
  /** The place of the override among all of the plan. */
  place: number;
  query: string;
  ast: Ast;
}

/**
 * Builds all overrides of a plan as one CASE within the poll's own round trip (contract device.md §3.4); an override whose query does not fit targets
 * is skipped. The result is undefined when none is left.
 */
export function overridingStatements(plan: PollingPlan): OverridingStatements | undefined {
  const terms = plan.overrides.flatMap(({ query }, place) => readable(plan, query, place));
  if (terms.length === 0) return undefined;
  const { predicates, values } = compiled(plan, terms, 0);
  const cases = terms.map(({ place }, i) => `when ${predicates[i]} then ${place}`);
  // Queries refer to the view (packages/fiql), under the alias that they expect; the poll's own tables are hidden behind it.
  const member = `(select case ${cases.join(" ")} end from controller.targets_v1 t where t.tenant_id = s.tenant_id and t.id = s.target_id) as override`;
  const moving = terms.some(({ query }) => query.includes("${"));
  return {
    statements: pollStatements(member),
    values: () => (moving ? compiled(plan, terms, Date.now()).values : values),
  };
}

function readable(plan: PollingPlan, query: string, place: number): Term[] {
  try {
    const term = { place, query, ast: parse(query, { stored: true }) };
    compiled(plan, [term], 0);
    return [term];
  } catch {
    return [];
  }
}

function compiled(plan: PollingPlan, terms: readonly Term[], now: number): { predicates: string[]; values: unknown[] } {
  const macros = { OVERDUE_TS: now - (plan.interval.seconds + plan.overdueAfter) * 1_000 };
  const values: unknown[] = [];
  const predicates = terms.map(({ ast }) => {
    const { sql, values: own } = compile(ast, targetFields, { firstParam: 4 + values.length, now, macros });
    values.push(...own);
    return sql;
  });
  return { predicates, values };
}

import { auditFields, auditKeysOnly, auditNamesOnly, auditQueryFields, type Route } from "@harrier/contracts";

const maxItems = 10;
const maxTextLength = 128;
const maxDetailsLength = 4_096;
const deepest = 3;

/** Answers what an audit entry shows of a parsed body and query, as JSON: only the audit fields of the route, at a limited length. */
export function auditDetails(route: Route, body: unknown, query?: unknown): string {
  const details: Record<string, unknown> = {};
  const parameters = auditQueryFields[route.id];
  if (parameters !== undefined) details["query"] = picked(query, parameters);
  if (Array.isArray(body)) details["items"] = body.length;
  const members = auditFields[route.id];
  if (auditKeysOnly.has(route.id)) details["values"] = bounded(Object.keys((body as object | undefined) ?? {}), 0);
  else if (auditNamesOnly.has(route.id)) details["values"] = bounded(body, 0);
  else if (members !== undefined && body !== undefined && body !== null)
    details["values"] = Array.isArray(body) ? body.slice(0, maxItems).map((item) => picked(item, members)) : picked(body, members);
  const text = JSON.stringify(details);
  // if even ten items at their longest do not fit, their number must be enough
  return text.length <= maxDetailsLength ? text : JSON.stringify({ items: details["items"], shortened: true });
}

function picked(item: unknown, members: readonly string[]): object {
  if (typeof item !== "object" || item === null) return {};
  const values = item as Record<string, unknown>;
  return Object.fromEntries(members.filter((name) => values[name] !== undefined).map((name) => [name, bounded(values[name], 0)]));
}

function bounded(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.slice(0, maxTextLength).toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return "…";
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => bounded(item, depth + 1));
  const entries = Object.entries(value).slice(0, maxItems);
  return Object.fromEntries(entries.map(([name, member]) => [name, bounded(member, depth + 1)]));
}

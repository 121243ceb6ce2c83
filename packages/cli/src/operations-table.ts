import type { RouteRow } from "@harrier/client";
import { usage } from "./exit.ts";
import { r } from "./routes.ts";

type Table = Readonly<Record<string, Readonly<Record<string, RouteRow>>>>;

/** An operation with what its path and its query were given in a path that somebody typed. */
export interface Asked {
  readonly row: RouteRow;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

const basePath = "/api/mgmt/v1";
const table = r as unknown as Table;

/** Finds an operation by its id (`rollouts.list`). */
export function operationById(id: string): RouteRow {
  const [feature = "", name = ""] = id.split(".");
  const row = Object.hasOwn(table, feature) && Object.hasOwn(table[feature] as object, name) ? table[feature]?.[name] : undefined;
  if (row?.interface !== "management") throw usage(`there is no operation ${id}`);
  return row;
}

/** Finds an operation by method and path, as the server does: where a word and a parameter both match, the word counts. */
export function operationAt(method: string, typed: string): Asked {
  if (!typed.startsWith("/")) throw usage(`the path begins with / and is relative to ${basePath}`);
  const [path = "", search = ""] = typed.split("?", 2);
  const words = (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path).split("/").slice(1);
  const matching = Object.values(table)
    .flatMap((rows) => Object.values(rows))
    .filter((row) => row.interface === "management" && row.method === method && matches(row, words))
    .sort((one, other) => (shapeOf(one) < shapeOf(other) ? -1 : 1));
  const [row] = matching;
  if (row === undefined) throw usage(`there is no operation ${method} ${path}`);
  const names = row.path.split("/").slice(1);
  const params = names.flatMap((name, n) => (name.startsWith(":") ? [[name.slice(1), decoded(words[n] as string)] as const] : []));
  return { row, params: Object.fromEntries(params), query: Object.fromEntries(new URLSearchParams(search)) };
}

function matches({ path }: RouteRow, words: readonly string[]): boolean {
  const names = path.split("/").slice(1);
  return names.length === words.length && names.every((name, n) => (name.startsWith(":") ? words[n] !== "" : name === words[n]));
}

/** It sorts rows whose words come earlier before those with parameters. */
const shapeOf = ({ path }: RouteRow): string => path.replaceAll(/\/([^/]+)/g, (_all, name: string) => (name.startsWith(":") ? "1" : "0"));

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    throw usage(`${word} is no part of a path: write % as %25`);
  }
}

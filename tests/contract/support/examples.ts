import { readFileSync, writeFileSync } from "node:fs";
import { type Example, examplesFolder, type Route, type Surface } from "@harrier/contracts";
import type { CallOptions } from "./call.ts";
import { createCleaner } from "./clean.ts";
import type { Answer } from "./http.ts";

type Body = { type?: string; body?: unknown };

/** Turns the request and its answer into an example for readers: it is small, and nothing in it differs from run to run. */
export function exampleOf(route: Pick<Route, "bodyKind">, options: CallOptions, answer: Answer): Example {
  const path = Object.fromEntries(Object.entries(options.params ?? {}).map(([name, value]) => [name, numberOf(value)]));
  const query = { ...options.query };
  const request = { ...(isEmpty(path) ? {} : { path }), ...(isEmpty(query) ? {} : { query }), ...requestBody(route, options) };
  const clean = createCleaner();
  return clean({ request, answer: { status: answer.status, ...answerBody(answer) } });
}

function requestBody(route: Pick<Route, "bodyKind">, { body, headers = {} }: CallOptions): Body {
  if (body === undefined) return {};
  const type = headers["content-type"]?.split(";")[0] ?? "application/json";
  if (route.bodyKind === "multipart") return { type, body: { file: "(the bytes of the file)" } };
  if (route.bodyKind === "binary") return { type, body: "(the bytes of the part)" };
  return { type, body };
}

function answerBody({ headers, json, text, bytes }: Answer): Body {
  if (bytes.length === 0) return {};
  const type = String(headers["content-type"]).split(";")[0] as string;
  if (json !== undefined) return { type, body: json };
  return { type, body: type.startsWith("text/") ? text : `(${bytes.length} bytes)` };
}

const numberOf = (value: string | number) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : value);
const isEmpty = (object: object) => Object.keys(object).length === 0;

/** Writes examples to the files of their groups of operations; examples of other operations in these files stay. */
export function writeExamples(made: ReadonlyMap<string, Readonly<Partial<Record<Surface, Example>>>>): void {
  const groups = Map.groupBy(made.keys(), (id) => id.slice(0, id.indexOf(".")));
  for (const [group, ids] of groups) {
    const file = new URL(`${group}.json`, examplesFolder);
    const known = readOr(file, {});
    const entries = new Map(Object.entries(known));
    for (const id of ids) entries.set(id, { ...entries.get(id), ...made.get(id) });
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  }
}

function readOr(file: URL, otherwise: Record<string, object>): Record<string, object> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return otherwise;
  }
}

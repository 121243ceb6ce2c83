import { readFileSync } from "node:fs";
import { isPaged, type RouteRow } from "@harrier/client";
import { type Options, text, texts, type Verb } from "./command.ts";
import { usage } from "./exit.ts";
import { type Asked, operationAt, operationById } from "./operations-table.ts";
import { harmless, put } from "./output/terminal.ts";
import type { Session } from "./session.ts";

/** The escape hatch: an operation by its id (`rollouts.list`), or a method and a path below the base path. */
export const api: Verb = {
  name: "api",
  summary: "Call any operation: by id (`api rollouts.get rolloutId=5`), or by method and path (`api GET /rollouts/5`)",
  args: "<operation> [more...]",
  options: [
    ["-f, --field <name=value...>", "a query parameter; may be given many times"],
    ["--input <file>", "the body; - is standard input"],
    ["--paginate", "walk the whole list: its objects as one JSON array, or in the format of -o"],
  ],
  writes: true,
  async run(session, [operation = "", ...more], options) {
    const { row, params, query } = askedFor(operation, more, options);
    if (row.bodyKind === "multipart") throw usage(`${row.id} takes a file: harrier artifact upload`);
    const input = text(options, "input");
    const body = input === undefined ? undefined : inputOf(row, readFileSync(input === "-" ? 0 : input));
    const asked = { params, query, ...(body === undefined ? {} : { body }) };
    if (row.method !== "GET") await session.show(row, asked);
    if (options["paginate"]) return paginate(session, row, asked);
    const answer = await (await session.client()).download(row, { ...asked, signal: session.signal } as never);
    const decoder = new TextDecoder();
    // a terminal gets the answer as text without what would steer it, a program the bytes
    const shown = (chunk: Uint8Array) => (process.stdout.isTTY ? harmless(decoder.decode(chunk, { stream: true })) : chunk);
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) if (!(await put(shown(chunk)))) break;
    if (process.stdout.isTTY) await session.print("\n");
  },
};

function askedFor(operation: string, more: readonly string[], options: Options): Asked {
  const fields = pairsOf(texts(options, "field"));
  if (!/^(GET|POST|PUT|DELETE)$/i.test(operation)) return { row: operationById(operation), params: pairsOf(more), query: fields };
  const [path = "", ...others] = more;
  if (others.length > 0) throw usage(`${others[0]} is too much: behind the method comes the path, and -f name=value for the query`);
  const at = operationAt(operation.toUpperCase(), path);
  return { ...at, query: { ...at.query, ...fields } };
}

function pairsOf(all: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    all.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw usage(`${pair} is no name=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** What is not JSON is sent as it is. */
function inputOf({ bodyKind }: RouteRow, bytes: Buffer): unknown {
  if (bodyKind === "csv" || bodyKind === "binary") return bytes;
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (error) {
    throw usage(`--input is no JSON: ${(error as Error).message}`);
  }
}

async function paginate(session: Session, row: RouteRow, asked: object): Promise<void> {
  if (!isPaged(row)) throw usage(`${row.id} has no pages to walk`);
  const items = (await session.client()).items(row, { ...asked, signal: session.signal } as never);
  const whole = session.options.output === "table" ? session.as("json") : session;
  await whole.rows(items, [{ head: "ID", at: (one: Entity) => one.controllerId ?? one.id ?? one.name }]);
}

interface Entity {
  readonly controllerId?: string;
  readonly id?: number | string;
  readonly name?: string;
}

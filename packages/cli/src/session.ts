import { type CallOptions, type Client, createClient, type ItemOf, type ListQuery, type RouteRow, requestOf } from "@harrier/client";
import type { ResponseOf } from "@harrier/contracts";
import { usage } from "./exit.ts";
import { type Column, chosen } from "./output/columns.ts";
import { writerOf } from "./output/formats.ts";
import { harmless, put, terminalWidth } from "./output/terminal.ts";
import { quickFetch } from "./quick-fetch.ts";
import { isSecretSetting } from "./secret-setting.ts";
import { findPlace, type Place } from "./sign-in.ts";

/** The options that every command has. */
export interface GlobalOptions {
  readonly server?: string;
  readonly token?: string;
  readonly context?: string;
  readonly output: string;
  readonly columns?: string;
  readonly verbose?: true;
  readonly dryRun?: true;
  readonly curl?: true;
  readonly yes?: true;
}

export interface ListOptions {
  readonly query?: string;
  readonly sort?: string;
  readonly limit?: string;
  readonly all?: boolean;
}

/** What a request would have been was shown, so the command is done (`--dry-run`, `--curl`). */
export class Shown extends Error {}

type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/** One run of the program: where it works, as whom, and how it writes. */
export class Session {
  readonly options: GlobalOptions;
  readonly signal: AbortSignal;
  #place: Promise<Place> | undefined;
  #client: Promise<Client> | undefined;

  constructor(options: GlobalOptions, signal: AbortSignal) {
    this.options = options;
    this.signal = signal;
  }

  /** The same run with another output. */
  as(output: string): Session {
    const other = new Session({ ...this.options, output }, this.signal);
    other.#place = this.place();
    other.#client = this.client();
    return other;
  }

  place(): Promise<Place> {
    this.#place ??= findPlace(this.options, this.signal);
    return this.#place;
  }

  client(): Promise<Client> {
    this.#client ??= this.place().then(({ server, credentials, tokens }) =>
      createClient({
        baseUrl: server,
        fetch: quickFetch,
        ...(credentials === undefined ? {} : { credentials }),
        ...(tokens === undefined ? {} : { tokens }),
        ...(this.options.verbose === undefined
          ? {}
          : {
              onAnswer: (answer) =>
                this.note(`${answer.status} ${answer.path} ${Math.round(answer.ms)} ms, request ${answer.requestId ?? "-"}`),
            }),
      }),
    );
    return this.#client;
  }

  /** Reads, whatever `--dry-run` and `--curl` say: what a change would be may depend on it. */
  async read<T extends RouteRow>(
    row: T,
    ...[options]: object extends CallOptions<T> ? [CallOptions<T>?] : [CallOptions<T>]
  ): Promise<ResponseOf<T>> {
    const client = await this.client();
    const { signal } = (options ?? {}) as { signal?: AbortSignal };
    const both = signal === undefined ? this.signal : AbortSignal.any([this.signal, signal]);
    return (await client.call(row as RouteRow, { ...(options as object), signal: both } as never)) as ResponseOf<T>;
  }

  /** Changes something, or shows the request with `--dry-run` and `--curl`. */
  async write<T extends RouteRow>(
    row: T,
    ...[options]: object extends CallOptions<T> ? [CallOptions<T>?] : [CallOptions<T>]
  ): Promise<ResponseOf<T>> {
    await this.show(row, (options ?? {}) as object);
    return this.read(row, ...([options] as never));
  }

  /** Shows the request that would be made, if that is all that is wanted, and ends the command. */
  async show(row: RouteRow, options: object): Promise<void> {
    if (!this.options.dryRun && !this.options.curl) return;
    const { method, path, body, headers } = requestOf(row, withoutSecrets(options, row));
    if (this.options.curl) {
      const { server } = await this.place();
      const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
      const type = body === undefined ? "" : ` -H 'content-type: ${headers["content-type"]}' -d ${quoted(String(body))}`;
      await this.print(`curl -sf -X ${method} -H "authorization: $AUTHORIZATION"${type} ${quoted(server + path)}\n`);
    } else {
      const shown = headers["content-type"] === "application/json" ? JSON.stringify(JSON.parse(String(body)), undefined, 2) : String(body);
      await this.print(`${method} ${path}\n${body === undefined ? "" : `${shown}\n`}`);
    }
    throw new Shown();
  }

  /** Walks a list as far as `--limit` or `--all` says, and tells how many there are if more are left. */
  async *list<T extends RouteRow>(
    row: T,
    { query, sort, limit, all }: ListOptions,
    more: { params?: Record<string, string | number>; query?: ListQuery<T> } = {},
  ): AsyncGenerator<ItemOf<T>> {
    const client = await this.client();
    const wanted = all ? Number.POSITIVE_INFINITY : countOf(limit ?? "50", "--limit");
    const whole = { q: query, sort, limit: Math.min(500, wanted), ...more.query } as never;
    // one page needs no cursor, and its total says whether there are more
    if (wanted <= 500) {
      const page = (await this.read(row as never, { params: more.params, query: whole } as never)) as {
        content: ItemOf<T>[];
        total?: number;
      };
      yield* Array.isArray(page) ? (page as ItemOf<T>[]) : page.content;
      if (Array.isArray(page)) return;
      const { total = 0 } = page;
      if (total > page.content.length) this.note(`${page.content.length} of ${total.toLocaleString("en")}, use --all`);
      return;
    }
    // V8 would rather take memory than collect what a page has left; a walk has a bound of memory and waits for the server anyway
    (await import("node:v8")).setFlagsFromString("--optimize-for-size");
    let count = 0;
    for await (const item of client.items(row, { params: more.params ?? {}, query: whole, signal: this.signal })) {
      if (count++ >= wanted) return this.note(`the first ${wanted.toLocaleString("en")}, use --all`);
      yield item;
    }
  }

  /** Writes objects in the format of `-o` as they come. */
  async rows(rows: Rows, columns: readonly Column[], { single = false, name }: { single?: boolean; name?: string } = {}): Promise<void> {
    const { output } = this.options;
    const picked = chosen(columns, this.options.columns);
    const known = columns.find(({ head }) => head === "ID") ?? (columns[0] as Column);
    const width = terminalWidth();
    const terminal = width === undefined ? undefined : { width };
    const writer = await writerOf({
      format: output,
      columns: picked,
      name: name === undefined ? known : { head: "", at: name },
      single,
      terminal,
    });
    let count = 0;
    let held = "";
    for await (const row of rows) {
      held += writer.row(row);
      if (++count % 500 === 0) held += writer.page?.() ?? "";
      if (held.length > 32_768) {
        await this.print(held);
        held = "";
      }
    }
    await this.print(held + writer.end());
  }

  one(row: unknown, columns: readonly Column[], name?: string): Promise<void> {
    return this.rows([row], columns, { single: true, ...(name === undefined ? {} : { name }) });
  }

  /** Writes to standard output, as fast as its reader reads: to programs as it is, to a terminal without what would steer it. */
  async print(text: string): Promise<void> {
    if (text !== "") await this.isRead(text);
  }

  /** Writes the same, and answers whether there still is a reader. */
  isRead(text: string): Promise<boolean> {
    return put(process.stdout.isTTY ? harmless(text) : text);
  }

  /** Tells something that is no data. */
  note(text: string): void {
    process.stderr.write(`${harmless(text)}\n`);
  }

  /** Asks before something is lost; without a terminal `--yes` is needed. */
  async confirm(what: string): Promise<void> {
    if (this.options.yes || this.options.dryRun || this.options.curl) return;
    if (!process.stdin.isTTY) throw usage(`${what}: say --yes, there is no terminal to ask`);
    const { createInterface } = await import("node:readline/promises");
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await reader.question(`${what}? [y/N] `);
    reader.close();
    if (!/^y(es)?$/i.test(answer.trim())) throw usage("nothing was done");
  }
}

const secretMembers = new Set(["password", "newPassword", "passwordHash", "secret", "clientSecret", "securityToken"]);
/** Operations whose bodies have passwords by the names of their users, so that no name of a member says what is secret. */
const secretBodies = /^messaging\./;

/** A request that is shown has no secrets in its body: what is shown gets into logs, and what is copied into a shell into `ps`. */
function withoutSecrets(options: object & { params?: object; body?: unknown }, row: RouteRow): object {
  const { body, params } = options;
  const isSecretValue = isSecretSetting(String((params as { key?: unknown } | undefined)?.key ?? ""));
  const isSecretBody = secretBodies.test(row.id);
  if (body === null || typeof body !== "object" || body instanceof Uint8Array || body instanceof ReadableStream) return options;
  const isHidden = (name: string) =>
    isSecretBody || secretMembers.has(name) || isSecretSetting(name) || (isSecretValue && name === "value");
  const shown = (name: string, value: unknown) => (typeof value === "string" && isHidden(name) ? "…" : value);
  return { ...options, body: JSON.parse(JSON.stringify(body, shown)) as unknown };
}

/** Reads a whole number of an option, 0 and more: what is no number must never reach the server as a default. */
export function wholeOf(text: string, option: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usage(`${option} must be a whole number`);
  return Number(text);
}

/** Reads how many of something an option means. */
export function countOf(text: string, option: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usage(`${option} must be a whole number above 0`);
  return Number(text);
}

/** Reads a duration (`90s`, `30m`, `2h`) in milliseconds. */
export function durationOf(text: string, option: string): number {
  const [, number, unit] = /^(\d{1,6})(ms|s|m|h)$/.exec(text) ?? [];
  if (number === undefined) throw usage(`${option} must be a duration: 90s, 30m, 2h`);
  return Number(number) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit as "s"];
}

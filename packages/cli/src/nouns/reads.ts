import type { RouteRow } from "@harrier/client";
import type { OptionRow, Options, Verb } from "../command.ts";
import type { Column } from "../output/columns.ts";
import { type Kind, refOf } from "../resolve.ts";
import type { ListOptions, Session } from "../session.ts";

type Call = (row: RouteRow, options: object) => Promise<unknown>;
/** Calls a row that data names, where no type can say what belongs to it. */
export const calling = (session: Session, how: "read" | "write"): Call => (session[how] as Call).bind(session);

/** A read verb as data: the row, what its first argument names, the columns, and which options are parameters of the query. */
export interface Read {
  readonly name: string;
  readonly summary: string;
  readonly row: RouteRow;
  readonly columns: readonly Column[];
  /** The entity of the path, as the first argument. */
  readonly of?: Kind & { readonly param: string };
  readonly options?: readonly OptionRow[];
  readonly query?: (options: Options) => Readonly<Record<string, unknown>>;
}

async function callOf({ of, query }: Read, session: Session, name: string, options: Options) {
  return {
    ...(of === undefined ? {} : { params: { [of.param]: await refOf(session, of, name) } }),
    ...(query === undefined ? {} : { query: query(options) }),
  };
}

const common = ({ name, summary, of, options }: Read) => ({
  name,
  summary,
  ...(of === undefined ? {} : { args: "<name>", completes: [of] }),
  ...(options === undefined ? {} : { options }),
});

/** A verb that shows one object. */
export function showVerb(read: Read): Verb {
  return {
    ...common(read),
    run: async (session, [name = ""], options) =>
      session.one(await calling(session, "read")(read.row, await callOf(read, session, name, options)), read.columns),
  };
}

/** A verb that lists rows of an answer without pages: an array, or the member `content`. */
export function rowsVerb(read: Read & { readonly rows?: (answer: unknown) => readonly unknown[] }): Verb {
  return {
    ...common(read),
    async run(session, [name = ""], options) {
      const answer = await calling(session, "read")(read.row, await callOf(read, session, name, options));
      const content = (answer as { content?: unknown[] }).content ?? (answer as unknown[]);
      await session.rows(read.rows?.(answer) ?? content, read.columns);
    },
  };
}

/** A verb that walks a list with pages. */
export function pagesVerb(read: Read): Verb {
  return {
    ...common(read),
    list: true,
    async run(session, [name = ""], options) {
      await session.rows(
        session.list(read.row as never, options as ListOptions, (await callOf(read, session, name, options)) as never),
        read.columns,
      );
    },
  };
}

/** A verb that writes what the server answers as it is, such as CSV. */
export function rawVerb(read: Omit<Read, "columns">): Verb {
  const whole = { ...read, columns: [] };
  return {
    ...common(whole),
    async run(session, [name = ""], options) {
      const client = await session.client();
      const call = await callOf(whole, session, name, options);
      const answer = await client.download(read.row, { ...call, signal: session.signal } as never);
      const decoder = new TextDecoder();
      for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>)
        await session.print(decoder.decode(chunk, { stream: true }));
      await session.print(decoder.decode());
    },
  };
}

/** Rows of an object whose members are named by keys. */
export const keyed = (answer: unknown): readonly unknown[] =>
  Object.entries(answer as Record<string, object>).map(([key, value]) => ({ key, ...value }));

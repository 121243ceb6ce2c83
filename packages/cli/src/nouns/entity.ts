import type { RouteRow } from "@harrier/client";
import { given, type Noun, type OptionRow, type Options, text, type Verb } from "../command.ts";
import { usage } from "../exit.ts";
import type { Column } from "../output/columns.ts";
import { type Kind, refOf } from "../resolve.ts";
import type { ListOptions, Session } from "../session.ts";
import { endOf, operationWaitOptions } from "./operations.ts";

/** What most entities have in common: their rows, the parameter of the path, and how they are shown. */
export interface Entity extends Kind {
  readonly param: string;
  readonly columns: readonly Column[];
  /** What a list asks for besides, so that its columns have their members. */
  readonly listQuery?: Readonly<Record<string, string>>;
  readonly get?: RouteRow;
  readonly create?: RouteRow;
  /** The body of a creation is an array. */
  readonly many?: true;
  readonly update?: RouteRow;
  readonly delete?: RouteRow;
  /** A deletion is an operation that goes on after its answer. */
  readonly deletesLater?: true;
  /** Options that become members of the body, for creation and change. */
  readonly creates?: readonly Member[];
  readonly updates?: readonly Member[];
  /** Members that only the answer of a creation has, such as a secret. */
  readonly madeColumns?: readonly Column[];
}

/** An option that becomes a member: its flags, what it says, the member, and how it is read. */
export interface Member {
  readonly flags: string;
  readonly text: string;
  readonly member: string;
  readonly read?: (value: string | true, session: Session) => unknown;
  readonly required?: true;
}

const camel = (flags: string): string =>
  (/--([\w-]+)/.exec(flags)?.[1] ?? "").replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());

const optionsOf = (members: readonly Member[]): OptionRow[] => members.map(({ flags, text: said }) => [flags, said]);

/** Makes a body from the options. */
export async function bodyOf(session: Session, members: readonly Member[], options: Options): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const { flags, member, read, required } of members) {
    const value = options[camel(flags)] as string | true | undefined;
    if (value === undefined && required) throw usage(`${flags} is missing`);
    if (value !== undefined) body[member] = read === undefined ? value : await read(value, session);
  }
  return body;
}

/** A list that the server answers as a whole. */
export function wholeListVerb(row: RouteRow, columns: readonly Column[], summary: string): Verb {
  return {
    name: "list",
    summary,
    run: async (session) => session.rows((await session.read(row as never)) as unknown[], columns),
  };
}

export function listVerb(row: RouteRow, columns: readonly Column[], summary: string, query: Readonly<Record<string, string>> = {}): Verb {
  return {
    name: "list",
    summary,
    list: true,
    run: (session, _args, options) => session.rows(session.list(row as never, options as ListOptions, { query: query as never }), columns),
  };
}

/** The verbs list, get, create, update and delete of an entity, as far as it has their rows. */
export function verbsOf(entity: Entity): Verb[] {
  const { word, columns, param } = entity;
  const paramsOf = async (session: Session, name: string) => ({ [param]: await refOf(session, entity, name) });
  const call = (session: Session, how: "read" | "write", row: RouteRow, options: object) =>
    (session[how] as (row: RouteRow, options: object) => Promise<unknown>).call(session, row, options);
  const list = listVerb(entity.list, columns, `List every ${word}`, entity.listQuery);
  const verbs: Verb[] = [entity.whole ? wholeListVerb(entity.list, columns, `List every ${word}`) : list];
  const completes = [entity];
  const { get, create, update } = entity;
  if (get !== undefined) {
    verbs.push({
      name: "get",
      summary: `Show one ${word}`,
      args: "<name>",
      completes,
      run: async (session, [name = ""]) =>
        session.one(await call(session, "read", get, { params: await paramsOf(session, name) }), columns),
    });
  }
  if (create !== undefined) {
    verbs.push({
      name: "create",
      summary: `Create a ${word}`,
      args: entity.versioned ? "<name:version>" : "<name>",
      writes: true,
      options: optionsOf(entity.creates ?? []),
      async run(session, [name = ""], options) {
        const body = { ...namedBy(entity, name), ...(await bodyOf(session, entity.creates ?? [], options)) };
        const made = await call(session, "write", create, { body: entity.many ? [body] : body });
        await session.one(entity.many ? (made as unknown[])[0] : made, [...columns, ...(entity.madeColumns ?? [])]);
      },
    });
  }
  if (update !== undefined) {
    verbs.push({
      name: "update",
      summary: `Change a ${word}; what is not given stays`,
      args: "<name>",
      completes,
      writes: true,
      options: optionsOf(entity.updates ?? []),
      async run(session, [name = ""], options) {
        const body = await bodyOf(session, entity.updates ?? [], options);
        if (Object.keys(body).length === 0) throw usage("nothing to change was given");
        await session.one(await call(session, "write", update, { params: await paramsOf(session, name), body }), columns);
      },
    });
  }
  if (entity.delete !== undefined) verbs.push(deleteVerb(entity, entity.delete));
  return verbs;
}

function deleteVerb(entity: Entity, row: RouteRow): Verb {
  return {
    name: "delete",
    summary: `Delete a ${entity.word}`,
    args: "<name>",
    completes: [entity],
    writes: true,
    destructive: true,
    ...(entity.deletesLater ? { options: operationWaitOptions } : {}),
    async run(session, [name = ""], options) {
      const params = { [entity.param]: await refOf(session, entity, name) };
      await session.confirm(`Delete the ${entity.word} ${name}`);
      const operation = (await session.write(row as never, { params } as never)) as { id?: string } | undefined;
      if (operation?.id === undefined) return session.note(`${entity.word} ${name} is deleted`);
      await endOf(session, { id: operation.id }, options, "deletes it");
    },
  };
}

function namedBy(entity: Entity, name: string): Record<string, unknown> {
  if (!entity.versioned) return { name };
  const at = name.lastIndexOf(":");
  if (at < 1 || at === name.length - 1) throw usage(`${name} has no version: name:version`);
  return { name: name.slice(0, at), version: name.slice(at + 1) };
}

/** A verb that does one step with an entity and answers nothing. */
export function stepVerb(
  entity: Entity,
  step: { name: string; summary: string; row: RouteRow; done: string; options?: readonly OptionRow[]; destructive?: true },
): Verb {
  const { name, summary, row, done, options = [], destructive } = step;
  return {
    name,
    summary,
    args: "<name>",
    completes: [entity],
    writes: true,
    options,
    ...(destructive === undefined ? {} : { destructive }),
    async run(session, [of = ""], chosen) {
      const params = { [entity.param]: await refOf(session, entity, of) };
      if (destructive) await session.confirm(`${name} the ${entity.word} ${of}`);
      const query = given({ remark: text(chosen, "remark") });
      await session.write(row as never, { params, ...(Object.keys(query).length === 0 ? {} : { query }) } as never);
      session.note(`${entity.word} ${of} ${done}`);
    },
  };
}

export function noun(names: readonly string[], summary: string, verbs: readonly Verb[]): Noun {
  return { names, summary, verbs };
}

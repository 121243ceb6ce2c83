import type { z } from "zod";
import type { Route } from "./route.ts";

/** What is known of a value: the members of an object, what stands in a list; undefined where anything may be. */
interface Known {
  readonly members?: ReadonlyMap<string, Known | undefined>;
  readonly items?: Known | undefined;
}

/** The members that a body of a route may have, worked out once. */
export interface KnownMembers {
  readonly body: Known;
  /** What answers show may be sent back: clients change what they have read and send the whole of it. */
  readonly shown: ReadonlySet<string>;
}

/** Names that one answer tells of; what else is unknown goes without saying. */
export const mostNamed = 10;
/** Characters of a name with the names of the objects around it. */
export const longestNamed = 64;
/** Deeper than any body of the contract. */
const deepest = 8;

/** What bodies of a route may hold; undefined where it has none or takes any member. */
export function knownMembers(route: Pick<Route, "body" | "bodyKind" | "response">): KnownMembers | undefined {
  if (route.body === undefined || route.bodyKind === "multipart" || route.bodyKind === "csv") return undefined;
  const body = knownOf(route.body);
  if (body === undefined) return undefined;
  const answer = route.response === undefined ? undefined : knownOf(route.response);
  return { body, shown: new Set((answer?.items ?? answer)?.members?.keys()) };
}

/**
 * Members of a body, as it was sent, that the contract does not know, each by its path without the places in lists, e.g. `modules.colour`: the
 * first ones, one more than `mostNamed` where there are more. Null members count as absent here as everywhere.
 */
export function unknownMembers({ body, shown }: KnownMembers, value: unknown): string[] {
  const found = new Set<string>();
  const look = (known: Known | undefined, at: unknown, path: string, depth: number): void => {
    if (known === undefined || depth > deepest || typeof at !== "object" || at === null) return;
    // one object alone is read as a list of it
    const items = known.items ?? known;
    if (Array.isArray(at)) {
      for (const item of at) {
        if (found.size > mostNamed) return;
        look(items, item, path, depth);
      }
      return;
    }
    const { members } = items;
    if (members === undefined) return;
    for (const [name, member] of Object.entries(at)) {
      if (found.size > mostNamed) return;
      const full = path === "" ? name : `${path}.${name}`;
      if (members.has(name)) look(members.get(name), member, full, depth + 1);
      else if (member !== null && !(path === "" && shown.has(name))) found.add(full.slice(0, longestNamed));
    }
  };
  look(body, value, "", 0);
  return [...found];
}

/** Parts of a schema's definition that lead to what it holds; which of them are there depends on its type. */
interface Definition {
  readonly type: string;
  readonly shape?: Record<string, z.core.$ZodType>;
  readonly catchall?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly out?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
}

/** Reads a schema; where it stands for several shapes, or for a map of any names, anything may be. */
function knownOf(schema: z.core.$ZodType): Known | undefined {
  const definition = schema._zod.def as unknown as Definition;
  switch (definition.type) {
    case "object": {
      if (definition.catchall !== undefined) return undefined;
      const members = Object.entries(definition.shape ?? {}).map(([name, member]) => [name, knownOf(member)] as const);
      return { members: new Map(members) };
    }
    case "array":
      return definition.element === undefined ? undefined : listOf(knownOf(definition.element));
    case "pipe":
      return pipeOf(definition);
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return definition.innerType === undefined ? undefined : knownOf(definition.innerType);
    case "union":
      return onlyOne((definition.options ?? []).map(knownOf));
    default:
      return undefined;
  }
}

const listOf = (items: Known | undefined): Known | undefined => (items === undefined ? undefined : { items });

/** What is sent is what goes in, unless that only prepares it for what comes out. */
function pipeOf({ in: before, out: after }: Definition): Known | undefined {
  if (before === undefined || after === undefined) return undefined;
  return knownOf(before._zod.def.type === "transform" ? after : before);
}

const onlyOne = (shapes: readonly (Known | undefined)[]): Known | undefined => {
  const [shape, ...others] = shapes.filter((one) => one !== undefined);
  return others.length === 0 ? shape : undefined;
};

import type { z } from "zod";
import { isStreamed, type Route } from "./route.ts";

/** What is known of a value: the members of an object, or the items of a list; undefined if any value is allowed. */
interface KnownShape {
  readonly members?: ReadonlyMap<string, KnownShape | undefined>;
  readonly items?: KnownShape | undefined;
}

/** The members that a body of a route may have, computed once. */
export interface KnownMembers {
  readonly body: KnownShape;
  /** Members of answers may be sent back, because clients change what they have read and send all of it. */
  readonly shown: ReadonlySet<string>;
}

/** One answer names at most so many members. */
export const maxNamed = 10;
/** A name, with the names of the objects around it, has at most so many characters. */
export const maxNamedLength = 64;
/** It is deeper than any body of the contract. */
const deepest = 8;

/** Answers the members that bodies of a route may have; undefined if it has no body or accepts any member. */
export function knownMembers(route: Pick<Route, "body" | "bodyKind" | "response">): KnownMembers | undefined {
  if (route.body === undefined || isStreamed(route)) return undefined;
  const body = shapeOf(route.body);
  if (body === undefined) return undefined;
  const answer = route.response === undefined ? undefined : shapeOf(route.response);
  return { body, shown: new Set((answer?.items ?? answer)?.members?.keys()) };
}

/**
 * Answers the members of a body that the contract does not know, as they were sent. Each is named by its path without list indexes, e.g.
 * `modules.colour`; of many it answers the first ones, at most one more than `maxNamed`. Null members count as absent here as everywhere.
 */
export function unknownMembers({ body, shown }: KnownMembers, value: unknown): string[] {
  const found = new Set<string>();
  const visit = (shape: KnownShape | undefined, at: unknown, path: string, depth: number): void => {
    if (shape === undefined || depth > deepest || typeof at !== "object" || at === null) return;
    // a single object is read as a list of it
    const items = shape.items ?? shape;
    if (Array.isArray(at)) {
      for (const item of at) {
        if (found.size > maxNamed) return;
        visit(items, item, path, depth);
      }
      return;
    }
    const { members } = items;
    if (members === undefined) return;
    for (const [name, member] of Object.entries(at)) {
      if (found.size > maxNamed) return;
      const full = path === "" ? name : `${path}.${name}`;
      if (members.has(name)) visit(members.get(name), member, full, depth + 1);
      else if (member !== null && !(path === "" && shown.has(name))) found.add(full.slice(0, maxNamedLength));
    }
  };
  visit(body, value, "", 0);
  return [...found];
}

/** The parts of a schema's definition that lead to its inner schemas; which of them exist depends on its type. */
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

/** Reads a schema; if it allows several shapes, or a map of any names, any value is allowed. */
function shapeOf(schema: z.core.$ZodType): KnownShape | undefined {
  const definition = schema._zod.def as unknown as Definition;
  switch (definition.type) {
    case "object": {
      if (definition.catchall !== undefined) return undefined;
      const members = Object.entries(definition.shape ?? {}).map(([name, member]) => [name, shapeOf(member)] as const);
      return { members: new Map(members) };
    }
    case "array":
      return definition.element === undefined ? undefined : listOf(shapeOf(definition.element));
    case "pipe":
      return pipeOf(definition);
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return definition.innerType === undefined ? undefined : shapeOf(definition.innerType);
    case "union":
      return onlyOne((definition.options ?? []).map(shapeOf));
    default:
      return undefined;
  }
}

const listOf = (items: KnownShape | undefined): KnownShape | undefined => (items === undefined ? undefined : { items });

/** A pipe is read by its input, unless that only preprocesses the value for the output. */
function pipeOf({ in: before, out: after }: Definition): KnownShape | undefined {
  if (before === undefined || after === undefined) return undefined;
  return shapeOf(before._zod.def.type === "transform" ? after : before);
}

const onlyOne = (shapes: readonly (KnownShape | undefined)[]): KnownShape | undefined => {
  const [shape, ...others] = shapes.filter((one) => one !== undefined);
  return others.length === 0 ? shape : undefined;
};

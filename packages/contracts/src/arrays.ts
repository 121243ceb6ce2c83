import { z } from "zod";

/** One request may create, change or delete so many objects; more objects take more requests. */
export const maxItems = 5_000;

/**
 * One request may assign so many objects. A tenant's own limit is its quota ASSIGNMENTS_PER_REQUEST_MAX_COUNT; a quota above this number has no
 * effect.
 */
export const maxAssignments = 20_000;

/** A list within an object may have so many elements, e.g. the modules of a set. */
export const maxElements = 1_000;

/** An answer names at most so many issues; what follows in the request is not checked. */
export const maxIssues = 20;

interface ArrayBody {
  readonly item: z.ZodType;
  readonly max: number;
}

const arrayBodies = new WeakMap<z.ZodType, ArrayBody>();

/** Makes null members of a body count as absent, at every level (contract management.md §1.1). */
export function withoutNulls<T extends z.ZodType>(schema: T) {
  return z.preprocess((value: z.input<T>) => dropNulls(value) as z.input<T>, schema);
}

/**
 * Makes a body that is an array; a single object is read as an array of it (contract management.md D6). A body longer than `max` is refused as a
 * quota before any of its elements is checked.
 */
export function arrayBody<T extends z.ZodType>(item: T, max = maxItems) {
  const schema = z.preprocess((value: z.input<T>[], context) => {
    const given = wrapped(value);
    if (Array.isArray(given) && given.length > max) context.addIssue({ ...tooManyItems(max), input: value });
    return context.issues.length > 0 ? z.NEVER : dropNulls(given);
  }, z.array(item));
  arrayBodies.set(schema, { item, max });
  return schema;
}

/** Whether the length of a body is limited by a quota of its own. */
export function isArrayBody(schema: z.ZodType): boolean {
  return arrayBodies.has(schema);
}

/** Answers how many objects an array body may hold; 0 if it is no array. */
export function maxInArray(schema: z.ZodType): number {
  return arrayBodies.get(schema)?.max ?? 0;
}

/** Makes a member that is an array; a single object is read as an array of it. If it is longer than `max`, its elements are not checked. */
export function arrayOf<T extends z.ZodType>(item: T, max = maxElements) {
  return z.preprocess((value, context) => refuseLonger(wrapped(value), max, context), z.array(item).max(max));
}

/** Makes an array of limited length. A longer one is refused before its elements are checked, whereas `z.array().max()` refuses it afterwards. */
export function arrayUpTo<T extends z.ZodType>(max: number, item: T) {
  return upTo(max, z.array(item).max(max));
}

/** Like `arrayUpTo`, but for any schema of an array. */
export function upTo<T extends z.ZodType>(max: number, array: T) {
  return z.preprocess((value, context) => refuseLonger(value, max, context), array);
}

/** Makes a map of limited size; in a larger one no member is checked. */
export function recordUpTo<T extends z.ZodType>(max: number, member: T) {
  return z.preprocess(
    (value, context) => {
      if (isObject(value) && Object.keys(value).length > max) {
        context.addIssue({ code: "custom", message: `must have at most ${max} members`, input: undefined });
      }
      return value;
    },
    z.record(z.string(), member),
  );
}

export type Checked = { readonly success: true; readonly data: unknown } | { readonly success: false; readonly issues: z.core.$ZodIssue[] };

/** Parses a value by a schema. In an array body only as many elements are checked as it takes to find `maxIssues` issues. */
export function check(schema: z.ZodType, value: unknown): Checked {
  const array = arrayBodies.get(schema);
  const given = array === undefined ? value : wrapped(value);
  if (array === undefined || !Array.isArray(given) || given.length > array.max) {
    const result = schema.safeParse(value);
    return result.success ? result : { success: false, issues: result.error.issues };
  }
  const data: unknown[] = [];
  const issues: z.core.$ZodIssue[] = [];
  for (let n = 0; n < given.length && issues.length < maxIssues; n++) {
    const result = array.item.safeParse(dropNulls(given[n], 1));
    if (result.success) data.push(result.data);
    else issues.push(...result.error.issues.map((issue) => ({ ...issue, path: [n, ...issue.path] })));
  }
  return issues.length === 0 ? { success: true, data } : { success: false, issues };
}

/** Makes an issue that has an error of its own and is no violated constraint: `refusedAs` is its code, the message its text. */
function tooManyItems(max: number) {
  const message = `Quota exceeded: a request holds ${max} items at most.`;
  return { code: "custom" as const, message, params: { refusedAs: "quotaTooManyEntries" } };
}

function refuseLonger(value: unknown, max: number, context: z.RefinementCtx): unknown {
  if (Array.isArray(value) && value.length > max) {
    context.addIssue({ code: "too_big", origin: "array", maximum: max, inclusive: true, input: undefined });
  }
  return value;
}

function wrapped(value: unknown): unknown {
  return isObject(value) ? [value] : value;
}

/** It is deeper than any body of the contract. Deeper members are unknown anyway, and a hostile body must not exhaust the stack. */
const deepest = 16;

function dropNulls(value: unknown, depth = 0): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((member) => dropNulls(member, depth + 1));
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // a member named __proto__ would change the object, so it is dropped
    if (member !== null && key !== "__proto__") kept[key] = dropNulls(member, depth + 1);
  }
  return kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

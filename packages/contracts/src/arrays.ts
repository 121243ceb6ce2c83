import { z } from "zod";

/** Objects in one request that creates, changes or deletes many; more take more requests. */
export const mostItems = 5_000;

/**
 * Objects in one request that assigns. How many of them a tenant may send is its quota ASSIGNMENTS_PER_REQUEST_MAX_COUNT; what the operator sets above
 * this number changes nothing.
 */
export const mostAssignments = 20_000;

/** Elements of a list within an object, e.g. the modules of a set. */
export const mostElements = 1_000;

/** Issues that a request is told of; the rest of it is not looked at. */
export const mostIssues = 20;

interface ArrayBody {
  readonly item: z.ZodType;
  readonly most: number;
}

const arrayBodies = new WeakMap<z.ZodType, ArrayBody>();

/** A body whose null members count as absent, at every level (contract management.md §1.1). */
export function withoutNulls<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => dropNulls(value), schema);
}

/**
 * A body that is an array; one object alone is read as an array of it (contract management.md D6). Longer than `most` it is refused as a quota before
 * any of its elements is looked at.
 */
export function arrayBody<T extends z.ZodType>(item: T, most = mostItems) {
  const schema = z.preprocess((value, context) => {
    const given = wrapped(value);
    if (Array.isArray(given) && given.length > most) context.addIssue({ ...tooManyItems(most), input: value });
    return context.issues.length > 0 ? z.NEVER : dropNulls(given);
  }, z.array(item));
  arrayBodies.set(schema, { item, most });
  return schema;
}

/** Whether the length of a body is limited by a quota of its own. */
export function isArrayBody(schema: z.ZodType): boolean {
  return arrayBodies.has(schema);
}

/** How many objects a body may hold that is an array; 0 where it is none. */
export function mostInArray(schema: z.ZodType): number {
  return arrayBodies.get(schema)?.most ?? 0;
}

/** A member that is an array; one object alone is read as an array of it. Longer than `most` its elements are not looked at. */
export function arrayOf<T extends z.ZodType>(item: T, most = mostElements) {
  return z.preprocess((value, context) => refuseLonger(wrapped(value), most, context), z.array(item).max(most));
}

/** An array of limited length; longer ones are refused before their elements are looked at, which `z.array().max()` does afterwards. */
export function arrayUpTo<T extends z.ZodType>(most: number, item: T) {
  return upTo(most, z.array(item).max(most));
}

/** As `arrayUpTo`, before any schema of an array. */
export function upTo<T extends z.ZodType>(most: number, array: T) {
  return z.preprocess((value, context) => refuseLonger(value, most, context), array);
}

/** A map of limited size; of a larger one no member is looked at. */
export function recordUpTo<T extends z.ZodType>(most: number, member: T) {
  return z.preprocess(
    (value, context) => {
      if (isObject(value) && Object.keys(value).length > most) {
        context.addIssue({ code: "custom", message: `must have at most ${most} members`, input: undefined });
      }
      return value;
    },
    z.record(z.string(), member),
  );
}

export type Checked = { readonly success: true; readonly data: unknown } | { readonly success: false; readonly issues: z.core.$ZodIssue[] };

/** Holds a value against a schema. Of the elements of an array body no more are looked at than it takes to find `mostIssues` issues. */
export function check(schema: z.ZodType, value: unknown): Checked {
  const array = arrayBodies.get(schema);
  const given = array === undefined ? value : wrapped(value);
  if (array === undefined || !Array.isArray(given) || given.length > array.most) {
    const result = schema.safeParse(value);
    return result.success ? result : { success: false, issues: result.error.issues };
  }
  const data: unknown[] = [];
  const issues: z.core.$ZodIssue[] = [];
  for (let n = 0; n < given.length && issues.length < mostIssues; n++) {
    const result = array.item.safeParse(dropNulls(given[n], 1));
    if (result.success) data.push(result.data);
    else issues.push(...result.error.issues.map((issue) => ({ ...issue, path: [n, ...issue.path] })));
  }
  return issues.length === 0 ? { success: true, data } : { success: false, issues };
}

/** An issue that is no violated constraint but an error of its own: `refusedAs` is its code, the message its text. */
function tooManyItems(most: number) {
  const message = `Quota exceeded: a request holds ${most} items at most.`;
  return { code: "custom" as const, message, params: { refusedAs: "quotaTooManyEntries" } };
}

function refuseLonger(value: unknown, most: number, context: z.RefinementCtx): unknown {
  if (Array.isArray(value) && value.length > most) {
    context.addIssue({ code: "too_big", origin: "array", maximum: most, inclusive: true, input: undefined });
  }
  return value;
}

function wrapped(value: unknown): unknown {
  return isObject(value) ? [value] : value;
}

/** Deeper than any body of the contract; what lies below is unknown anyway, and a hostile body must not exhaust the stack. */
const deepest = 16;

function dropNulls(value: unknown, depth = 0): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((member) => dropNulls(member, depth + 1));
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // a member named __proto__ would change the object instead of being kept
    if (member !== null && key !== "__proto__") kept[key] = dropNulls(member, depth + 1);
  }
  return kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { z } from "zod";
import { missingMessage } from "./parse.ts";
import { shownAs } from "./shown-as.ts";

export { arrayBody, arrayOf, arrayUpTo, recordUpTo, upTo, withoutNulls } from "./arrays.ts";

/** This is the largest id that JavaScript and int8 both hold; larger ones do not exist, so they are looked up as this one and not found. */
const largestId = Number.MAX_SAFE_INTEGER;
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** The start of a tag, comment or doctype as an HTML parser would read it. */
const markupStart = /<[a-z/!?]/i;
const markupMessage = "Invalid characters in string";

/**
 * Reads a scalar that is no text as its text, as hawkBit's mapper does; the rule holds for the bodies of both interfaces (contract device.md §1.2). The
 * declared type is the one that our own clients are held to.
 */
function asText(value: string): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

/** Reads digits in quotes as the whole number. */
function asWhole(value: number): unknown {
  return typeof value === "string" && /^-?\d{1,19}$/.test(value) ? Number(value) : value;
}

/** Makes a flag in a body, which may also be a text. */
export function flag() {
  return z.preprocess((value: boolean | "true" | "false") => (value === "true" ? true : value === "false" ? false : value), z.boolean());
}

const errorOfMissing = (issue: { input?: unknown }) => (issue.input === undefined || issue.input === null ? missingMessage : undefined);

/** Whether PostgreSQL can store a text: it stores every character except NUL and unpaired surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

/** Makes a text of limited length that is stripped when it is read (contract management.md §1.1). */
function trimmed(min: number, max: number) {
  return z.preprocess(asText, z.string().trim().min(min).max(max).refine(isStorable, markupMessage));
}

/** Makes a required text: absent or null violates a constraint, any other type makes the body unreadable. */
export function requiredText(max: number) {
  return z.preprocess(asText, z.string({ error: errorOfMissing }).trim().min(1).max(max).refine(isStorable, markupMessage));
}

/** Makes a required text that must not contain markup. */
export function requiredName(max: number) {
  return requiredText(max).refine(noMarkup, markupMessage);
}

/** Makes an optional text that, if given, must not be empty and must not contain markup. */
export function optionalName(max: number, min = 1) {
  return trimmed(min, max).refine(noMarkup, markupMessage).optional();
}

/** Makes an optional file name for devices: it must contain no path, which could lead out of the device's storage folder. */
export function optionalFileName(max: number) {
  return trimmed(1, max).refine(noMarkup, markupMessage).refine(isSegment, markupMessage).optional();
}

/** The size of something in bytes, in a body. */
export const byteCount = shownAs(z.preprocess(asWhole, wholeNumber().min(1).max(Number.MAX_SAFE_INTEGER)), {
  type: "integer",
  format: "int64",
  minimum: 1,
});

/** Makes a required file name, with the rules of `optionalFileName`. */
export function fileName(max: number) {
  return requiredName(max).refine(isSegment, markupMessage);
}

/** Makes an optional checksum of so many hexadecimal digits, which are read in lower case. */
export function checksum(digits: number) {
  const lower = z.string().trim().toLowerCase();
  return lower.refine((text) => text.length === digits && /^[0-9a-f]*$/.test(text), `must have ${digits} hexadecimal digits`).optional();
}

/**
 * Adds the rule for the id of a target to create: its device must be able to poll with it (contract device.md §3.2, §9.8). Existing ids are looked
 * up as they are.
 */
export function newControllerId<T extends z.ZodType<string>>(text: T) {
  return text.refine((id) => isSegment(id) && !/\s/.test(id), "must be one segment of a path without white space or control characters");
}

/** Makes an optional free text. */
export function optionalText(max: number) {
  return trimmed(0, max).optional();
}

/** Makes an optional free text that must not contain markup. */
export function optionalDescription(max = 512) {
  return trimmed(0, max).refine(noMarkup, markupMessage).optional();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for; headers and proxies refuse them
const outsideSegments = /[\u0000-\u001f\u007f-\u009f/\\]/;

/** Whether links, proxies and file systems all treat a text as one plain segment of a path. */
function isSegment(text: string): boolean {
  return text !== "." && text !== ".." && !outsideSegments.test(text);
}

/** Refuses only terminated markup (contract management.md §1.6): a lone `<5` or `<abc` is allowed. It takes linear time for any input. */
function noMarkup(text: string): boolean {
  const end = text.lastIndexOf(">");
  return end < 0 || !markupStart.test(text.slice(0, end));
}

/** An id of 64 bits in a body, as a JSON integer. */
export const bodyId = shownAs(z.preprocess(asWhole, wholeNumber().transform(clampId)), { type: "integer", format: "int64" });

/** An object that names an entity by its id, as in `modules: [{id}]`. */
export const idReference = z.object({ id: bodyId }).meta({ id: "IdReference" });

/** An id in a path; a text that is no number is unreadable, not unknown (contract management.md §1.1). */
export const pathId = shownAs(
  z
    .string()
    .regex(/^-?\d{1,19}$/, "must be a number")
    .refine(isInt64, { error: "must be a number of 64 bits", params: { unreadable: true } })
    .transform((text) => clampId(Number(text))),
  { type: "integer", format: "int64" },
);

/** The last moment that a JavaScript date can show; PostgreSQL's timestamps reach a little further. */
export const lastMoment = 8_640_000_000_000_000;

/** Epoch milliseconds in a body, clamped to what dates can show. */
export const epochMs = shownAs(z.preprocess(asWhole, wholeNumber().transform(clampMoment)), { type: "integer", format: "int64" });

export function clampMoment(ms: number): number {
  return Math.max(0, Math.min(lastMoment, ms));
}

/** A name in a path or body that is looked up as it is; one that cannot be stored is unreadable. */
export const lookedUpText = z.string().refine(isStorable, { error: markupMessage, params: { unreadable: true } });

/** The weight of an action: the higher one comes first (contract management.md §5.7). */
export const weight = shownAs(z.preprocess(asWhole, wholeNumber().min(0).max(1000)), {
  type: "integer",
  format: "int32",
  minimum: 0,
  maximum: 1000,
});

/** A whole number of 32 bits in a body; a number that does not fit is unreadable. */
export const int32 = shownAs(
  z.preprocess(
    asWhole,
    z.number().refine((value) => Number.isInteger(value) && value >= -2_147_483_648 && value <= 2_147_483_647, {
      error: "must be a whole number of 32 bits",
      params: { unreadable: true },
    }),
  ),
  { type: "integer", format: "int32" },
);

/** Makes a whole number within limits in a body. */
export function wholeBetween(minimum: number, maximum: number) {
  return shownAs(z.preprocess(asWhole, wholeNumber().min(minimum).max(maximum)), { type: "integer", minimum, maximum });
}

/** A required whole number that is kept unchanged: absent or null violates a constraint, one that JavaScript cannot hold is unreadable. */
export const requiredWhole = shownAs(
  z.preprocess(
    asWhole,
    z.number({ error: errorOfMissing }).refine(Number.isSafeInteger, { error: "must be a whole number", params: { unreadable: true } }),
  ),
  { type: "integer", format: "int64" },
);

/** Makes a JSON number without a fraction; a number with a fraction has the wrong type. */
function wholeNumber() {
  return z.number().refine(Number.isInteger, { error: "must be a whole number", params: { unreadable: true } });
}

function isInt64(text: string): boolean {
  // this also runs after a failed pattern, where BigInt would throw
  if (!/^-?\d{1,19}$/.test(text)) return true;
  const value = BigInt(text);
  return value >= int64.min && value <= int64.max;
}

function clampId(value: number): number {
  return Math.max(-largestId, Math.min(largestId, value));
}

import { codes, type ErrorCode } from "./codes.ts";
import type { Surface } from "./row.ts";
import { violationsInfo, violationTexts } from "./violations.ts";

export interface HarrierErrorDetails {
  readonly info?: Record<string, unknown> | undefined;
  readonly parameters?: string[] | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly cause?: unknown;
}

/** An error answer shows texts and lists up to these lengths, in bytes and elements. */
const maxLengths = { textBytes: 2_048, list: 100 };

/** Use cases throw only this error; its code decides its form on every interface. */
export class HarrierError extends Error {
  readonly code: ErrorCode;
  readonly info?: Record<string, unknown>;
  readonly parameters?: string[];
  /** The response headers that belong to the error, e.g. `Content-Range` of a 416. */
  readonly headers?: Record<string, string>;

  constructor(code: ErrorCode, message?: string, details: HarrierErrorDetails = {}) {
    super(shortened(message ?? codes[code].message), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "HarrierError";
    this.code = code;
    if (details.info !== undefined) this.info = details.info;
    if (details.parameters !== undefined) this.parameters = details.parameters;
    if (details.headers !== undefined) this.headers = details.headers;
  }
}

/** The body of an error answer (spec 000 §7.2: `parameters` for devices, `info` elsewhere; both only when not empty). */
export interface ErrorBody {
  exceptionClass?: string;
  errorCode?: string;
  message: string;
  parameters?: string[];
  info?: Record<string, unknown>;
}

/** Answers the HTTP status of an error on one surface. */
export function httpStatus(code: ErrorCode, surface: Surface): number {
  return codes[code].status[surface];
}

/**
 * Answers the body of an error, or undefined if the interface answers only the status (contract device.md §10.1). Devices get violations in their
 * own form, as `parameters` (spec 000 §7.2).
 */
export function errorBody(error: HarrierError, surface: Surface = "spec"): ErrorBody | undefined {
  const row = codes[error.code];
  if (row.emptyBody) return undefined;
  const body: ErrorBody = { message: error.message };
  if (row.exceptionClass !== "") body.exceptionClass = row.exceptionClass;
  if (row.hawkbit !== "") body.errorCode = row.hawkbit;
  const parameters = [...(error.parameters ?? []), ...(surface === "device" ? violationTexts(error.info) : [])];
  if (parameters.length > 0) body.parameters = parameters.slice(0, maxLengths.list);
  const info = Object.entries(error.info ?? {}).filter(([name]) => surface !== "device" || name !== "violations");
  if (info.length > 0) body.info = Object.fromEntries(info.map(([name, value]) => [name, bounded(value)]));
  return body;
}

/** Shortens a value that the caller sent and that becomes part of the error. */
function bounded(value: unknown): unknown {
  if (typeof value === "string") return shortened(value);
  return Array.isArray(value) ? value.slice(0, maxLengths.list).map(bounded) : value;
}

function shortened(text: string): string {
  // no character has more than three bytes per UTF-16 unit
  if (text.length * 3 <= maxLengths.textBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxLengths.textBytes));
  if (bytes.length <= maxLengths.textBytes && text.length <= maxLengths.textBytes) return text;
  const kept = bytes.subarray(0, maxLengths.textBytes - 3).toString();
  // the cut may have split the last character
  return `${kept.replace(/\ufffd+$/, "")}…`;
}

/** Makes the error for an unknown id or key, with the message and the `info` that clients know (contract device.md §10.1). */
export function entityNotFound(type: string, id: unknown, path?: string): HarrierError {
  const violations = path === undefined ? {} : violationsInfo([{ path, problem: "names what does not exist" }]);
  return new HarrierError("entityNotFound", `${type} with given identifier {${shown(id)}} does not exist.`, {
    info: { type, entityId: id, ...violations },
  });
}

/**
 * Makes the error for a principal that lacks these permissions, or holds them for other target types only: `restricted`. It names them; the message
 * is fixed (contract management.md §2.2).
 */
export function lacksPermission(permissions: readonly string[], how?: "restricted"): HarrierError {
  const problem = how === undefined ? {} : { problem: "is restricted to target types" };
  return new HarrierError("insufficientPermission", undefined, { info: permissions.length === 0 ? {} : { permissions, ...problem } });
}

/**
 * Makes the error for a name, key or id that exists already, or that occurs twice in one request. `duplicate` has the members that make it unique,
 * if they are known; the message is fixed (contract management.md §2.2).
 */
export function alreadyExists(duplicate: Readonly<Record<string, string>> | undefined, cause?: unknown): HarrierError {
  return new HarrierError("entityAlreadyExists", undefined, { info: duplicate === undefined ? undefined : { duplicate }, cause });
}

/** The reasons why a set is not complete; without either it has no module at all. */
export interface SetGaps {
  /** The keys of mandatory module types that no module of the set has. */
  readonly missingTypes: readonly string[];
  /** The `name:version` of modules with fewer artifacts than their type requires. */
  readonly unfilledModules: readonly string[];
}

/** Makes the error for a set that is not complete: `info` names the module types and modules. The message is fixed unless `message` is given. */
export function setIncomplete(gaps: SetGaps | undefined, message?: string): HarrierError {
  if (gaps === undefined) return new HarrierError("setIncomplete", message);
  const { missingTypes, unfilledModules } = gaps;
  const info = {
    ...(missingTypes.length > 0 && { missingModuleTypes: missingTypes }),
    ...(unfilledModules.length > 0 && { modulesWithoutArtifacts: unfilledModules }),
    ...(missingTypes.length + unfilledModules.length === 0 && { problem: "has no software module" }),
  };
  return new HarrierError("setIncomplete", message, { info });
}

/** Makes the error for `n` more of something than its owner may have, with the message that clients know (contract device.md §10.1). */
export function quotaExceeded(wanted: { n: number; of: string; owner: string; limit: number }): HarrierError {
  const { n, of, owner, limit } = wanted;
  return new HarrierError(
    "quotaTooManyEntries",
    `Quota exceeded: Cannot assign ${n} more ${of} entities to ${owner}. The maximum is ${limit}.`,
  );
}

/** Makes the error for an unknown metadata entry, which is named by its owner and its key (contract management.md §2.1). */
export function metadataNotFound(owner: string, id: number | string, key: string): HarrierError {
  const type = `${owner}Metadata`;
  return new HarrierError("entityNotFound", `${type} for given entity {${shown(id)}} and with key {${shown(key)}} does not exist.`, {
    info: { type, entityId: id, key },
  });
}

/** Converts any thrown value to a HarrierError; the text of a foreign error stays in `cause` and never reaches a client. */
export function toHarrierError(thrown: unknown): HarrierError {
  if (thrown instanceof HarrierError) return thrown;
  return new HarrierError("internal", undefined, { cause: thrown });
}

/**
 * Answers what users may read of failing background work: the message of a Harrier error, but never that of the database or a library, which may
 * contain statements or secrets. The log of `service` has the details.
 */
export function failureMessage(thrown: unknown, service: string): string {
  const { code, message } = toHarrierError(thrown);
  return code === "internal" ? `${message} The log of ${service} tells more.` : message;
}

function shown(id: unknown): string {
  return Array.isArray(id) ? id.join(", ") : String(id);
}

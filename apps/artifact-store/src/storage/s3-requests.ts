import { HarrierError } from "@harrier/errors";
import { backOff, pause } from "@harrier/jobs";
import type { Client } from "minio";

/** Where an object lies. */
export interface Place {
  readonly client: Client;
  readonly bucket: string;
  readonly key: string;
}

const attempts = 3;

/** Recognises the answer of a store that does not have the object. */
export function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "NotFound" || code === "NoSuchKey";
}

/** The codes of a store that cannot serve at the moment; a 5xx without a body has the empty code. */
const passing = /^(|SlowDown\w*|ServiceUnavailable|InternalError|UnknownError|XMinioServerNotInitialized)$/;
/** Node's codes of failed connections, such as ECONNREFUSED, ETIMEDOUT and EAI_AGAIN; codes that begin with ERR_ mean misuse. */
const ofConnection = /^E(?!RR_)[A-Z_]+$/;

/** Says whether a repetition may succeed: after a broken connection or a 5xx it may, but any other S3 code is final. */
function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code !== "string" || passing.test(code) || ofConnection.test(code);
}

/**
 * Makes one request to the store.
 * @throws HarrierError `unavailable` (503, Retry-After) if the store is silent, absent or overloaded; its other errors are passed on unchanged.
 */
export async function asking<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!isTransient(error)) throw error;
    const message = "The object store is not available at the moment.";
    throw new HarrierError("unavailable", message, { cause: error, headers: { "retry-after": "5" } });
  }
}

export function isUnavailable(error: unknown): error is HarrierError {
  return error instanceof HarrierError && error.code === "unavailable";
}

/** Repeats a request, which must be repeatable, so that a short outage of the store goes unnoticed. */
export async function retrying<T>(request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await asking(request);
    } catch (error) {
      if (attempt === attempts || !isUnavailable(error)) throw error;
      await pause(backOff(attempt, { firstMs: 200, maxMs: 1_000 }));
    }
  }
}

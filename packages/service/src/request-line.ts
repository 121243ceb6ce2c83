import type { HarrierError } from "@harrier/errors";

/** The line of a request shows this status if the client left before the answer; it is never sent. */
export const clientGone = 499;

/** A success of a route without interest to operators is `quiet`. */
export function lineLevel(quiet: boolean, status: number, failure: HarrierError | undefined): "debug" | "info" | "error" {
  if (failure === undefined) return quiet ? "debug" : "info";
  // it is an outage of our own that affects every request, and the gate logs it once
  if (failure.code === "identityRefused") return "debug";
  return failure.code === "internal" && status !== clientGone ? "error" : "info";
}

/** What the line of a failed request says of its cause. */
export function causeOf(error: HarrierError): { err?: unknown } {
  if (error.code === "internal") return { err: error.cause ?? error };
  return error.cause === undefined ? {} : { err: error.cause };
}

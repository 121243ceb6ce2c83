import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { codes, HarrierError, isErrorCode } from "@harrier/errors";
import { keysOfMetadata } from "./metadata.ts";

interface ErrorOnTheWire {
  code: string;
  message: string;
  info?: Record<string, unknown>;
  parameters?: string[];
  /** It was refused before the method began. */
  refused?: true;
}

/**
 * Converts an error to a gRPC status; a trailer carries its code, so that it arrives as the same error. `refused` says that the method was not
 * begun.
 */
export function toStatus(error: HarrierError, { refused = false } = {}): StatusObject {
  const wire: ErrorOnTheWire = { code: error.code, message: error.message };
  if (error.info !== undefined) wire.info = error.info;
  if (error.parameters !== undefined) wire.parameters = error.parameters;
  if (refused) wire.refused = true;
  const metadata = new Metadata();
  metadata.set(keysOfMetadata.error, Buffer.from(JSON.stringify(wire)));
  return { code: codes[error.code].grpc, details: error.code, metadata };
}

/** Answers the error that a call ended with: the callee's own if it gave one, otherwise one for the state of the connection. */
export function fromServiceError(error: ServiceError): HarrierError {
  const wire = readTrailer(error);
  if (wire !== undefined && isErrorCode(wire.code)) {
    return new HarrierError(wire.code, wire.message, { info: wire.info, parameters: wire.parameters, cause: error });
  }
  const code = isSessionEnd(error) ? "unavailable" : codeOf(error.code);
  return new HarrierError(code, undefined, { cause: error, ...(code === "unavailable" ? { headers: { "retry-after": "1" } } : {}) });
}

/**
 * Whether the connection ended under the call in a way for which the library has no name: as `INTERNAL` (a reset of any kind, for instance by a
 * server that has seen too many of our resets) or `RESOURCE_EXHAUSTED` (it asks for calm). A callee's own error of these codes has our trailer, and
 * a message that is too large has another text.
 */
export function isSessionEnd(error: ServiceError): boolean {
  return readTrailer(error) === undefined && /^(Received RST_STREAM with code|Bandwidth exhausted)/.test(error.details ?? "");
}

/** What the end of a call says about the callee: it has answered (an error of its own is an answer), it was silent, or neither is certain. */
export type CalleeState = "answered" | "silent" | "unknown";

/** A refusal because little time is left counts as unknown: it does not show that the callee's methods come to an end. */
export function calleeState(error: ServiceError | null): CalleeState {
  if (error === null) return "answered";
  const wire = readTrailer(error);
  if (wire !== undefined) return wire.refused && error.code === status.DEADLINE_EXCEEDED ? "unknown" : "answered";
  return error.code === status.DEADLINE_EXCEEDED ? "silent" : "unknown";
}

function codeOf(code: status): "deadlineExceeded" | "unavailable" | "internal" {
  if (code === status.DEADLINE_EXCEEDED) return "deadlineExceeded";
  // CANCELLED means that the connection broke under the call, or that the client was closed
  if (code === status.UNAVAILABLE || code === status.CANCELLED) return "unavailable";
  return "internal";
}

function readTrailer(error: ServiceError): ErrorOnTheWire | undefined {
  const value = error.metadata?.get(keysOfMetadata.error)[0];
  if (!Buffer.isBuffer(value)) return undefined;
  try {
    return JSON.parse(value.toString()) as ErrorOnTheWire;
  } catch {
    return undefined;
  }
}

import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { codes, HarrierError, isErrorCode } from "@harrier/errors";
import { keysOfMetadata } from "./metadata.ts";

interface ErrorOnTheWire {
  code: string;
  message: string;
  info?: Record<string, unknown>;
  parameters?: string[];
  /** Refused at the door, before the method began. */
  refused?: true;
}

/**
 * An error as gRPC status; its identity goes along in a trailer, so that it arrives as the same error. `refused`: the method was not begun.
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

/** The error that a call ended with: the callee's own where it gave one, else one for the state of the connection. */
export function fromServiceError(error: ServiceError): HarrierError {
  const wire = readTrailer(error);
  if (wire !== undefined && isErrorCode(wire.code)) {
    return new HarrierError(wire.code, wire.message, { info: wire.info, parameters: wire.parameters, cause: error });
  }
  const code = isSessionEnd(error) ? "unavailable" : codeOf(error.code);
  return new HarrierError(code, undefined, { cause: error, ...(code === "unavailable" ? { headers: { "retry-after": "1" } } : {}) });
}

/**
 * True where the connection ended under the call and the library has no name for how: as `INTERNAL` (a reset of any kind, for instance of a
 * server that has seen too many resets of ours) or `RESOURCE_EXHAUSTED` (it asks for calm). A callee's own error of these codes comes with
 * our trailer, a message that is too large with another text.
 */
export function isSessionEnd(error: ServiceError): boolean {
  return readTrailer(error) === undefined && /^(Received RST_STREAM with code|Bandwidth exhausted)/.test(error.details ?? "");
}

/** What the end of a call says of the callee: it has answered (an error of its own is an answer), it was silent, or neither can be told. */
export type CalleeState = "answered" | "silent" | "unknown";

/** A callee that refuses a call because its time is nearly over has not shown that its methods come to an end. */
export function calleeState(error: ServiceError | null): CalleeState {
  if (error === null) return "answered";
  const wire = readTrailer(error);
  if (wire !== undefined) return wire.refused && error.code === status.DEADLINE_EXCEEDED ? "unknown" : "answered";
  return error.code === status.DEADLINE_EXCEEDED ? "silent" : "unknown";
}

function codeOf(code: status): "deadlineExceeded" | "unavailable" | "internal" {
  if (code === status.DEADLINE_EXCEEDED) return "deadlineExceeded";
  // CANCELLED: the connection went away under the call, or the client was closed
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

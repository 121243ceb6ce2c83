import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { codes, HarrierError, isErrorCode } from "@harrier/errors";
import { keysOfMetadata } from "./metadata.ts";

interface ErrorOnTheWire {
  code: string;
  message: string;
  info?: Record<string, unknown>;
  parameters?: string[];
}

/** An error as gRPC status; its identity goes along in a trailer, so that it arrives as the same error. */
export function toStatus(error: HarrierError): StatusObject {
  const wire: ErrorOnTheWire = { code: error.code, message: error.message };
  if (error.info !== undefined) wire.info = error.info;
  if (error.parameters !== undefined) wire.parameters = error.parameters;
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
  return new HarrierError(codeOf(error.code), undefined, { cause: error });
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

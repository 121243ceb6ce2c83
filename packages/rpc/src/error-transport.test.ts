import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { calleeState, fromServiceError, toStatus } from "./error-transport.ts";

const ended = (code: status, details: string): ServiceError =>
  Object.assign(new Error(details), { code, details, metadata: new Metadata() });

test.each<[status, string, string]>([
  [status.INTERNAL, "Received RST_STREAM with code 2 triggered by internal client error: Session closed with error code 2", "unavailable"],
  [status.INTERNAL, "Received RST_STREAM with code 2 (Internal server error)", "unavailable"],
  [status.INTERNAL, "Received RST_STREAM with code 0 (Call ended without gRPC status)", "unavailable"],
  [status.INTERNAL, "Received RST_STREAM with code 1 triggered by internal client error: Protocol error", "unavailable"],
  [status.RESOURCE_EXHAUSTED, "Bandwidth exhausted or memory limit exceeded", "unavailable"],
  [status.UNAVAILABLE, "Connection dropped", "unavailable"],
  [status.CANCELLED, "Call cancelled", "unavailable"],
  [status.DEADLINE_EXCEEDED, "Deadline exceeded after 0.2s", "deadlineExceeded"],
  [status.RESOURCE_EXHAUSTED, "Received message larger than max (9 vs 8)", "internal"],
  [status.INTERNAL, "Error serializing response: x", "internal"],
  [status.UNIMPLEMENTED, "The server does not implement the method x", "internal"],
])("status %d, %j, is %s", (code, details, expected) => {
  const error = ended(code, details);
  expect(fromServiceError(error)).toMatchObject({ code: expected, cause: error });
  expect(calleeState(error)).toBe(code === status.DEADLINE_EXCEEDED ? "silent" : "unknown");
});

test("the callee's own error is its answer, whatever the status", () => {
  const { code, details, metadata } = toStatus(new HarrierError("internal"));
  const error = Object.assign(new Error(details), { code, details, metadata }) as ServiceError;
  expect(fromServiceError(error).code).toBe("internal");
  expect(calleeState(error)).toBe("answered");
  expect(calleeState(null)).toBe("answered");
});

test.each<[HarrierError["code"], refused: boolean, string]>([
  ["deadlineExceeded", false, "answered"],
  ["deadlineExceeded", true, "unknown"],
  ["identityRefused", true, "answered"],
])("%s, refused before the method began %j: %s", (code, refused, expected) => {
  const { details, metadata, code: grpc } = toStatus(new HarrierError(code), { refused });
  const error = Object.assign(new Error(details), { code: grpc, details, metadata }) as ServiceError;
  expect(fromServiceError(error).code).toBe(code);
  expect(calleeState(error)).toBe(expected);
});

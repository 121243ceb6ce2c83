/** Metadata keys of a call. Principal, request id and base URL travel in the signed identity, under `identityHeader`. */
export const keysOfMetadata = {
  commandId: "harrier-command-id",
  traceparent: "traceparent",
  error: "harrier-error-bin",
} as const;

/** What a gRPC identity is bound to in place of an HTTP method. */
export const identityMethod = "GRPC";

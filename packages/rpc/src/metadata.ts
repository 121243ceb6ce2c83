/** The metadata keys of a call. Principal, request id and base URL are in the signed identity, under `identityHeader`. */
export const keysOfMetadata = {
  commandId: "harrier-command-id",
  traceparent: "traceparent",
  error: "harrier-error-bin",
} as const;

/** Answers what the signature of a call covers beside its method: the message, the command and the gateway's delegation. */
export function coveredInCall(parts: { digest: string; commandId: string | undefined; delegation: string | undefined }): string {
  return `${parts.digest}\n${parts.commandId ?? ""}\n${parts.delegation ?? ""}`;
}

/** A gRPC identity is bound to this in place of an HTTP method. */
export const identityMethod = "GRPC";

/** Metadata keys of a call. Principal, request id and base URL travel in the signed identity, under `identityHeader`. */
export const keysOfMetadata = {
  commandId: "harrier-command-id",
  traceparent: "traceparent",
  error: "harrier-error-bin",
} as const;

/** What the signature of a call covers beside its method: the message, the command and whom the gateway vouches for. */
export function coveredInCall(parts: { digest: string; commandId: string | undefined; word: string | undefined }): string {
  return `${parts.digest}\n${parts.commandId ?? ""}\n${parts.word ?? ""}`;
}

/** What a gRPC identity is bound to in place of an HTTP method. */
export const identityMethod = "GRPC";

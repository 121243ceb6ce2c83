/** The three faces a status may depend on: devices, the specified management base path, the hawkBit 1.x one. */
export type Surface = "device" | "spec" | "rest";

/** HTTP status per surface; the dialects differ for quotas only (contract clients.md, "Two dialects"). */
export type StatusBySurface = Readonly<Record<Surface, number>>;

export interface ErrorRow {
  /** `errorCode` member of the body; "" where the interface documents none (framework answers, empty bodies). */
  readonly hawkbit: `hawkbit.server.error.${string}` | "";
  /** `exceptionClass` member of the body; some clients match on its last part. "" where none is documented. */
  readonly exceptionClass: string;
  /** gRPC status code; the identity of the error travels apart, in a trailer. */
  readonly grpc: number;
  /** True when the same request may succeed later without a change. */
  readonly retryable: boolean;
  /** True when the interface answers the status without a body. */
  readonly emptyBody?: true;
  readonly status: StatusBySurface;
  /** Text used when the thrower gives none. */
  readonly message: string;
}

/** Numbers of the gRPC status codes, so that this package needs no gRPC library. */
export const grpcStatus = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The same status on every surface. */
export const everywhere = (status: number): StatusBySurface => ({ device: status, spec: status, rest: status });

/**
 * Quotas: 403 for devices and on the specified path, because waiting cannot help (spec 000 §7.1);
 * 429 on `/rest/v1`, which answers as hawkBit 1.x does (contract management.md D3).
 */
export const quotaStatus: StatusBySurface = { device: 403, spec: 403, rest: 429 };

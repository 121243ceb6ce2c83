/** A status may depend on the surface: devices, the specified management base path, the hawkBit 1.x one. */
export type Surface = "device" | "spec" | "rest";

/** The HTTP status per surface; the dialects differ for quotas only (contract clients.md, "Two dialects"). */
export type StatusBySurface = Readonly<Record<Surface, number>>;

export interface ErrorRow {
  /** The `errorCode` member of the body; "" if the interface documents none (framework answers, empty bodies). */
  readonly hawkbit: `hawkbit.server.error.${string}` | "";
  /** The `exceptionClass` member of the body, whose last part some clients compare; "" if none is documented. */
  readonly exceptionClass: string;
  /** The gRPC status code; a trailer carries the error's code. */
  readonly grpc: number;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
  /** Whether the interface answers the status without a body. */
  readonly emptyBody?: true;
  readonly status: StatusBySurface;
  /** The message if the thrower gives none. */
  readonly message: string;
}

/** The numbers of the gRPC status codes are repeated here, so that this package needs no gRPC library. */
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

/** Makes the same status on every surface. */
export const everywhere = (status: number): StatusBySurface => ({ device: status, spec: status, rest: status });

/**
 * The statuses of quotas: 403 for devices and on the specified path, because waiting does not help (spec 000 §7.1); 429 on `/rest/v1`, which
 * answers as hawkBit 1.x does (contract management.md D3).
 */
export const quotaStatus: StatusBySurface = { device: 403, spec: 403, rest: 429 };

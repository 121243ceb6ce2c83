export { codes, type ErrorCode, isErrorCode } from "./codes.ts";
export {
  type ErrorBody,
  entityNotFound,
  errorBody,
  failureMessage,
  HarrierError,
  type HarrierErrorDetails,
  httpStatus,
  metadataNotFound,
  quotaExceeded,
  toHarrierError,
} from "./harrier-error.ts";
export { type ErrorRow, grpcStatus, type StatusBySurface, type Surface } from "./row.ts";

export { codes, type ErrorCode, isErrorCode } from "./codes.ts";
export {
  alreadyExists,
  type ErrorBody,
  entityNotFound,
  errorBody,
  failureMessage,
  HarrierError,
  type HarrierErrorDetails,
  httpStatus,
  lacksPermission,
  metadataNotFound,
  quotaExceeded,
  type SetGaps,
  setIncomplete,
  toHarrierError,
} from "./harrier-error.ts";
export type { ErrorRow, StatusBySurface, Surface } from "./row.ts";
export { type Violation, violationsInfo } from "./violations.ts";

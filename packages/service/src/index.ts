export { type Reply, sendError } from "./answer.ts";
export { type AuditedCall, type AuditedOutcome, auditEntity, type CallAudit, isAudited } from "./audited.ts";
export { maxBodyBytesOf } from "./body.ts";
export { createClockCheck } from "./clock-check.ts";
export { closeBehindBody } from "./close-behind-body.ts";
export {
  type CommonConfig,
  ConfigError,
  type ConfigOf,
  commonSettings,
  drainOf,
  loadConfig,
  port,
  tlsOf,
} from "./config.ts";
export { sendCsv } from "./csv-answer.ts";
export { type DiscardBudget, discardRest } from "./discard-rest.ts";
export type { DrainTimes } from "./drain.ts";
export { revisionOfContent } from "./entity-tag.ts";
export { type FaultPoint, faultPoint, faultPoints } from "./faults.ts";
export { createHttp, type Http, type HttpOptions } from "./http.ts";
export { Limiter } from "./limiter.ts";
export { type LineLimits, LinesPerMinute } from "./lines-per-minute.ts";
export { createLog, type Log, type LogOptions } from "./log.ts";
export { createMetrics, type Metrics, type RouteTimer } from "./metrics.ts";
export type { Handler, Mount } from "./mount.ts";
export { negotiate } from "./negotiate.ts";
export { describeNode, type Node } from "./node.ts";
export { bytesPassed, setHeapForBytes } from "./passing-bytes.ts";
export { permits, requirePermission } from "./permission.ts";
export { createReadiness, type Readiness, type ReadinessCheck, type ReadinessChecks } from "./readiness.ts";
export { budgetHeader, type RequestContext } from "./request-context.ts";
export { backgroundWork, type RunOptions, runService, type Stoppable } from "./run-service.ts";
export { observeStandbyReads } from "./standby-reads.ts";
export { type RequestLimiter, TenantLimiter, type TenantLimits } from "./tenant-limiter.ts";

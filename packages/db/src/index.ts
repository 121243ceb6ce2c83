// our functions take and return these types of the driver
export type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from "pg";
export { bootstrap, serviceUrl } from "./bootstrap.ts";
export {
  backgroundOf,
  commandsOf,
  createDatabase,
  type Database,
  type DatabaseOptions,
  deviceLimits,
  type PoolLimits,
} from "./database.ts";
export { createDatabaseState, type DatabaseState } from "./database-state.ts";
export { duplicateOf } from "./duplicate.ts";
export { checkBeingDeleted, eraseSliceMs, eraseTenantRows } from "./erase-tenant.ts";
export { IdBlocks } from "./id-blocks.ts";
export { type LeadershipOptions, withLeadership } from "./leadership.ts";
export { createNodeStatus, forgetNode, type NodeRecord, recordGuest, recordNode } from "./node-status.sql.ts";
export { ensurePartitions, type PartitionedTable } from "./partitions.ts";
export { apart, countRoundTrips, type RequestScope, type StatementLimiter, untilAborted } from "./request-scope.ts";
export { applyFunctions, applyViews, checkNeeds, migrate, migrateDatabase, prepareSchema, type ServiceSchema } from "./schema/index.ts";
export { createSecretBox, digest, type SecretBox } from "./secrets.ts";
export {
  type AuditedService,
  auditedServices,
  auditSchemaOf,
  type DatabaseService,
  databaseServices,
  type RolePasswords,
  roleOf,
  schemaOf,
} from "./services.ts";
export { createSigner, isSignedBy, type Signer } from "./signing.ts";
export {
  type CompiledQuery,
  compile,
  createQueryBuilder,
  inSnapshot,
  inTransaction,
  type Queryable,
  run,
  runCount,
  runOne,
  type Statement,
  statement,
} from "./statement.ts";
export { countTenantRows, deleteTenantRows, type TenantRows } from "./tenant-rows.ts";
export { unsuitableText } from "./text-support.ts";
export { startWhenReadable } from "./when-readable.ts";

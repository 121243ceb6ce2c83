export { type GuardOptions, guardProcess } from "./guard.ts";
export { freePort, freePorts } from "./ports.ts";
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startPostgres } from "./postgres.ts";
export type { ReadinessTls } from "./readiness.ts";
export { type BackendName, type ServiceName, serviceNames } from "./services.ts";
export { type DatabaseSettings, readSettings, type S3Settings, type StartSettings } from "./settings.ts";
export { type RunningService, type Stack, type StackOptions, startStack } from "./stack.ts";
export { StartError } from "./start-error.ts";

// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export interface MaintenanceWindowInput {
  schedule?: string;
  duration?: string;
  timezone?: string;
}

export interface MaintenanceWindow {
  schedule: string;
  duration: string;
  timezone: string;
}

// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface DeactivateAutoConfirmRequestInput {
  controllerId?: string;
}

export interface DeactivateAutoConfirmRequest {
  controllerId: string;
}

// Generated from protos/harrier/controller/v1/device_identity.proto by packages/rpc/scripts/generate.mjs

export interface VerifyDeviceRequestInput {
  tenant?: string;
  controllerId?: string;
  scheme?: string;
  credential?: string;
}

export interface VerifyDeviceRequest {
  tenant: string;
  controllerId: string;
  scheme: string;
  credential: string;
}

// Generated from protos/harrier/controller/v1/device_identity.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface DeviceIdentityServiceDefinition extends grpc.ServiceDefinition {
  VerifyDevice: MethodDefinition<VerifyDeviceRequestInput, VerifyDeviceResponseInput, VerifyDeviceRequest, VerifyDeviceResponse>;
  WatchCredentialChanges: MethodDefinition<
    WatchCredentialChangesRequestInput,
    WatchCredentialChangesResponseInput,
    WatchCredentialChangesRequest,
    WatchCredentialChangesResponse
  >;
}

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

export interface VerifyDeviceResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  subject?: string;
  revision?: number | string | Long;
  expiresAt?: number | string | Long;
}

export interface VerifyDeviceResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  subject: string;
  revision: number;
  expiresAt: number;
}

export type WatchCredentialChangesRequestInput = Record<string, never>;

export type WatchCredentialChangesRequest = Record<string, never>;

export interface WatchCredentialChangesResponseInput {
  heartbeat?: boolean;
  tenantId?: number;
  controllerId?: string;
  revision?: number | string | Long;
  tenant?: string;
}

export interface WatchCredentialChangesResponse {
  heartbeat: boolean;
  tenantId: number;
  controllerId: string;
  revision: number;
  tenant: string;
}

// Generated from protos/harrier/controller/v1/device_messages.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface DeviceMessageInput {
  tenantId?: number;
  tenant?: string;
  vhost?: string;
  exchange?: string;
  controllerId?: string;
  type?: string;
  topic?: string;
  body?: string;
}

export interface DeviceMessage {
  tenantId: number;
  tenant: string;
  vhost: string;
  exchange: string;
  controllerId: string;
  type: string;
  topic: string;
  body: string;
}

export interface DeviceMessagesServiceDefinition extends grpc.ServiceDefinition {
  FindThings: MethodDefinition<FindThingsRequestInput, FindThingsResponseInput, FindThingsRequest, FindThingsResponse>;
  ListMessagingTenants: MethodDefinition<
    ListMessagingTenantsRequestInput,
    ListMessagingTenantsResponseInput,
    ListMessagingTenantsRequest,
    ListMessagingTenantsResponse
  >;
  NoteProcess: MethodDefinition<NoteProcessRequestInput, NoteProcessResponseInput, NoteProcessRequest, NoteProcessResponse>;
  ReadDeviceMessages: MethodDefinition<
    ReadDeviceMessagesRequestInput,
    ReadDeviceMessagesResponseInput,
    ReadDeviceMessagesRequest,
    ReadDeviceMessagesResponse
  >;
  RecordRefusals: MethodDefinition<RecordRefusalsRequestInput, RecordRefusalsResponseInput, RecordRefusalsRequest, RecordRefusalsResponse>;
  RegisterThing: MethodDefinition<RegisterThingRequestInput, RegisterThingResponseInput, RegisterThingRequest, RegisterThingResponse>;
  RemoveThing: MethodDefinition<RemoveThingRequestInput, RemoveThingResponseInput, RemoveThingRequest, RemoveThingResponse>;
  ReportActionStatus: MethodDefinition<
    ReportActionStatusRequestInput,
    ReportActionStatusResponseInput,
    ReportActionStatusRequest,
    ReportActionStatusResponse
  >;
  SwitchThingAutoConfirm: MethodDefinition<
    SwitchThingAutoConfirmRequestInput,
    SwitchThingAutoConfirmResponseInput,
    SwitchThingAutoConfirmRequest,
    SwitchThingAutoConfirmResponse
  >;
  UpdateThingAttributes: MethodDefinition<
    UpdateThingAttributesRequestInput,
    UpdateThingAttributesResponseInput,
    UpdateThingAttributesRequest,
    UpdateThingAttributesResponse
  >;
}

export interface FindThingsRequestInput {
  actionIds?: (number | string | Long)[];
}

export interface FindThingsRequest {
  actionIds: number[];
}

export interface FindThingsResponseInput {
  things?: ThingOfActionInput[];
}

export interface FindThingsResponse {
  things: ThingOfAction[];
}

export type ListMessagingTenantsRequestInput = Record<string, never>;

export type ListMessagingTenantsRequest = Record<string, never>;

export interface ListMessagingTenantsResponseInput {
  tenants?: MessagingTenantInput[];
}

export interface ListMessagingTenantsResponse {
  tenants: MessagingTenant[];
}

export interface MessagingTenantInput {
  tenantId?: number;
  tenant?: string;
  vhost?: string;
}

export interface MessagingTenant {
  tenantId: number;
  tenant: string;
  vhost: string;
}

export interface NoteProcessRequestInput {
  id?: string;
  host?: string;
  version?: string;
  startedAt?: number | string | Long;
  leaves?: boolean;
  jobs?: ProcessJobInput[];
}

export interface NoteProcessRequest {
  id: string;
  host: string;
  version: string;
  startedAt: number;
  leaves: boolean;
  jobs: ProcessJob[];
}

export type NoteProcessResponseInput = Record<string, never>;

export type NoteProcessResponse = Record<string, never>;

export interface ProcessJobInput {
  name?: string;
  lastRunAt?: number | string | Long;
  failures?: number | string | Long;
  lastError?: string;
  lastErrorAt?: number | string | Long;
  backlog?: number | string | Long;
  _lastRunAt?: "lastRunAt";
  _lastError?: "lastError";
  _lastErrorAt?: "lastErrorAt";
  _backlog?: "backlog";
}

export interface ProcessJob {
  name: string;
  lastRunAt?: number;
  failures: number;
  lastError?: string;
  lastErrorAt?: number;
  backlog?: number;
  _lastRunAt?: "lastRunAt";
  _lastError?: "lastError";
  _lastErrorAt?: "lastErrorAt";
  _backlog?: "backlog";
}

export interface ReadDeviceMessagesRequestInput {
  holder?: string;
  confirmed?: string;
  baseUrl?: string;
  dropped?: number[];
  connected?: number[];
  full?: TenantExchangeInput[];
  resting?: TenantExchangeInput[];
}

export interface ReadDeviceMessagesRequest {
  holder: string;
  confirmed: string;
  baseUrl: string;
  dropped: number[];
  connected: number[];
  full: TenantExchange[];
  resting: TenantExchange[];
}

export interface ReadDeviceMessagesResponseInput {
  leading?: boolean;
  messages?: DeviceMessageInput[];
  position?: string;
  more?: boolean;
}

export interface ReadDeviceMessagesResponse {
  leading: boolean;
  messages: DeviceMessage[];
  position: string;
  more: boolean;
}

export interface RecordRefusalsRequestInput {
  refusals?: RefusalsInput[];
}

export interface RecordRefusalsRequest {
  refusals: Refusals[];
}

export type RecordRefusalsResponseInput = Record<string, never>;

export type RecordRefusalsResponse = Record<string, never>;

export interface RefusalsInput {
  tenantId?: number;
  kind?: string;
  count?: number;
  lastAt?: number | string | Long;
  lastReason?: string;
}

export interface Refusals {
  tenantId: number;
  kind: string;
  count: number;
  lastAt: number;
  lastReason: string;
}

export interface RegisterThingRequestInput {
  controllerId?: string;
  address?: string;
  name?: string;
  targetType?: string;
  attributes?: ThingAttributesInput | null;
  _name?: "name";
  _targetType?: "targetType";
  _attributes?: "attributes";
}

export interface RegisterThingRequest {
  controllerId: string;
  address: string;
  name?: string;
  targetType?: string;
  attributes?: ThingAttributes | null;
  _name?: "name";
  _targetType?: "targetType";
  _attributes?: "attributes";
}

export type RegisterThingResponseInput = Record<string, never>;

export type RegisterThingResponse = Record<string, never>;

export interface RemoveThingRequestInput {
  controllerId?: string;
}

export interface RemoveThingRequest {
  controllerId: string;
}

export type RemoveThingResponseInput = Record<string, never>;

export type RemoveThingResponse = Record<string, never>;

export interface ReportActionStatusRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  status?: string;
  messages?: string[];
  code?: number;
  timestamp?: number | string | Long;
  _code?: "code";
  _timestamp?: "timestamp";
}

export interface ReportActionStatusRequest {
  controllerId: string;
  actionId: number;
  status: string;
  messages: string[];
  code?: number;
  timestamp?: number;
  _code?: "code";
  _timestamp?: "timestamp";
}

export type ReportActionStatusResponseInput = Record<string, never>;

export type ReportActionStatusResponse = Record<string, never>;

export interface SwitchThingAutoConfirmRequestInput {
  controllerId?: string;
  enabled?: boolean;
  initiator?: string;
  remark?: string;
  _initiator?: "initiator";
  _remark?: "remark";
}

export interface SwitchThingAutoConfirmRequest {
  controllerId: string;
  enabled: boolean;
  initiator?: string;
  remark?: string;
  _initiator?: "initiator";
  _remark?: "remark";
}

export type SwitchThingAutoConfirmResponseInput = Record<string, never>;

export type SwitchThingAutoConfirmResponse = Record<string, never>;

export interface TenantExchangeInput {
  tenantId?: number;
  exchange?: string;
}

export interface TenantExchange {
  tenantId: number;
  exchange: string;
}

export interface ThingAttributesInput {
  mode?: string;
  values?: { [key: string]: string };
  nulls?: string[];
}

export interface ThingAttributes {
  mode: string;
  values: { [key: string]: string };
  nulls: string[];
}

export interface ThingOfActionInput {
  actionId?: number | string | Long;
  controllerId?: string;
}

export interface ThingOfAction {
  actionId: number;
  controllerId: string;
}

export interface UpdateThingAttributesRequestInput {
  controllerId?: string;
  attributes?: ThingAttributesInput | null;
}

export interface UpdateThingAttributesRequest {
  controllerId: string;
  attributes: ThingAttributes | null;
}

export type UpdateThingAttributesResponseInput = Record<string, never>;

export type UpdateThingAttributesResponse = Record<string, never>;

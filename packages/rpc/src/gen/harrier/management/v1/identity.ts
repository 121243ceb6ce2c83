// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface ApiKeyUseInput {
  tenantId?: number;
  keyId?: number | string | Long;
  day?: number;
}

export interface ApiKeyUse {
  tenantId: number;
  keyId: number;
  day: number;
}

export interface CloseSessionRequestInput {
  idDigest?: string;
}

export interface CloseSessionRequest {
  idDigest: string;
}

export type CloseSessionResponseInput = Record<string, never>;

export type CloseSessionResponse = Record<string, never>;

export interface IdentityServiceDefinition extends grpc.ServiceDefinition {
  CloseSession: MethodDefinition<CloseSessionRequestInput, CloseSessionResponseInput, CloseSessionRequest, CloseSessionResponse>;
  NoteApiKeyUses: MethodDefinition<NoteApiKeyUsesRequestInput, NoteApiKeyUsesResponseInput, NoteApiKeyUsesRequest, NoteApiKeyUsesResponse>;
  NoteNode: MethodDefinition<NoteNodeRequestInput, NoteNodeResponseInput, NoteNodeRequest, NoteNodeResponse>;
  NoteRefusals: MethodDefinition<NoteRefusalsRequestInput, NoteRefusalsResponseInput, NoteRefusalsRequest, NoteRefusalsResponse>;
  NoteSessionUses: MethodDefinition<
    NoteSessionUsesRequestInput,
    NoteSessionUsesResponseInput,
    NoteSessionUsesRequest,
    NoteSessionUsesResponse
  >;
  OpenSession: MethodDefinition<OpenSessionRequestInput, OpenSessionResponseInput, OpenSessionRequest, OpenSessionResponse>;
  ReadTokenKeys: MethodDefinition<ReadTokenKeysRequestInput, ReadTokenKeysResponseInput, ReadTokenKeysRequest, ReadTokenKeysResponse>;
  ResolveSession: MethodDefinition<ResolveSessionRequestInput, ResolveSessionResponseInput, ResolveSessionRequest, ResolveSessionResponse>;
  ResolveToken: MethodDefinition<ResolveTokenRequestInput, ResolveTokenResponseInput, ResolveTokenRequest, ResolveTokenResponse>;
  SignIn: MethodDefinition<SignInRequestInput, SignInResponseInput, SignInRequest, SignInResponse>;
  SignInClient: MethodDefinition<SignInClientRequestInput, SignInClientResponseInput, SignInClientRequest, SignInClientResponse>;
  WatchPrincipalChanges: MethodDefinition<
    WatchPrincipalChangesRequestInput,
    WatchPrincipalChangesResponseInput,
    WatchPrincipalChangesRequest,
    WatchPrincipalChangesResponse
  >;
}

export interface JobStateInput {
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

export interface JobState {
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

export interface NoteApiKeyUsesRequestInput {
  uses?: ApiKeyUseInput[];
}

export interface NoteApiKeyUsesRequest {
  uses: ApiKeyUse[];
}

export type NoteApiKeyUsesResponseInput = Record<string, never>;

export type NoteApiKeyUsesResponse = Record<string, never>;

export interface NoteNodeRequestInput {
  id?: string;
  host?: string;
  version?: string;
  startedAt?: number | string | Long;
  leaves?: boolean;
  jobs?: JobStateInput[];
}

export interface NoteNodeRequest {
  id: string;
  host: string;
  version: string;
  startedAt: number;
  leaves: boolean;
  jobs: JobState[];
}

export type NoteNodeResponseInput = Record<string, never>;

export type NoteNodeResponse = Record<string, never>;

export interface NoteRefusalsRequestInput {
  refusals?: RefusalInput[];
}

export interface NoteRefusalsRequest {
  refusals: Refusal[];
}

export type NoteRefusalsResponseInput = Record<string, never>;

export type NoteRefusalsResponse = Record<string, never>;

export interface NoteSessionUsesRequestInput {
  uses?: SessionUseInput[];
}

export interface NoteSessionUsesRequest {
  uses: SessionUse[];
}

export type NoteSessionUsesResponseInput = Record<string, never>;

export type NoteSessionUsesResponse = Record<string, never>;

export interface OpenSessionRequestInput {
  idDigest?: string;
  tenantId?: number;
  userId?: number | string | Long;
  generation?: number;
  kind?: string;
  issuer?: string;
  subject?: string;
  scopes?: string[];
  notAfter?: number | string | Long;
  lastIp?: string;
  userAgent?: string;
}

export interface OpenSessionRequest {
  idDigest: string;
  tenantId: number;
  userId: number;
  generation: number;
  kind: string;
  issuer: string;
  subject: string;
  scopes: string[];
  notAfter: number;
  lastIp: string;
  userAgent: string;
}

export interface OpenSessionResponseInput {
  ok?: boolean;
  expiresAt?: number | string | Long;
  idleUntil?: number | string | Long;
}

export interface OpenSessionResponse {
  ok: boolean;
  expiresAt: number;
  idleUntil: number;
}

export type ReadTokenKeysRequestInput = Record<string, never>;

export type ReadTokenKeysRequest = Record<string, never>;

export interface ReadTokenKeysResponseInput {
  issuer?: string;
  audience?: string;
  jwks?: string;
}

export interface ReadTokenKeysResponse {
  issuer: string;
  audience: string;
  jwks: string;
}

export interface RefusalInput {
  tenantId?: number;
  tenant?: string;
  signedIn?: boolean;
  actor?: string;
  action?: string;
  entity?: string;
  entityIds?: string[];
  scheme?: string;
  address?: string;
  status?: number;
  errorCode?: string;
  requestId?: string;
  at?: number | string | Long;
  times?: number;
}

export interface Refusal {
  tenantId: number;
  tenant: string;
  signedIn: boolean;
  actor: string;
  action: string;
  entity: string;
  entityIds: string[];
  scheme: string;
  address: string;
  status: number;
  errorCode: string;
  requestId: string;
  at: number;
  times: number;
}

export interface ResolveSessionRequestInput {
  idDigest?: string;
  kind?: string;
}

export interface ResolveSessionRequest {
  idDigest: string;
  kind: string;
}

export interface ResolveSessionResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  subject?: string;
  issuer?: string;
  permissions?: string[];
  targetTypeScopes?: { [key: string]: TargetTypesInput };
  revision?: number | string | Long;
  userId?: number | string | Long;
  sessionId?: number | string | Long;
  expiresAt?: number | string | Long;
  idleSeconds?: number;
}

export interface ResolveSessionResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  subject: string;
  issuer: string;
  permissions: string[];
  targetTypeScopes: { [key: string]: TargetTypes };
  revision: number;
  userId: number;
  sessionId: number;
  expiresAt: number;
  idleSeconds: number;
}

export interface ResolveTokenRequestInput {
  tenant?: string;
  user?: string;
  scopes?: string[];
}

export interface ResolveTokenRequest {
  tenant: string;
  user: string;
  scopes: string[];
}

export interface ResolveTokenResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  permissions?: string[];
  targetTypeScopes?: { [key: string]: TargetTypesInput };
  devices?: boolean;
  revision?: number | string | Long;
  userId?: number | string | Long;
}

export interface ResolveTokenResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  permissions: string[];
  targetTypeScopes: { [key: string]: TargetTypes };
  devices: boolean;
  revision: number;
  userId: number;
}

export interface SessionUseInput {
  tenantId?: number;
  sessionId?: number | string | Long;
  at?: number | string | Long;
}

export interface SessionUse {
  tenantId: number;
  sessionId: number;
  at: number;
}

export interface SignInClientRequestInput {
  clientId?: string;
  scopes?: string[];
  generation?: number;
}

export interface SignInClientRequest {
  clientId: string;
  scopes: string[];
  generation: number;
}

export interface SignInClientResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  permissions?: string[];
  targetTypeScopes?: { [key: string]: TargetTypesInput };
  devices?: boolean;
  revision?: number | string | Long;
  userId?: number | string | Long;
}

export interface SignInClientResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  permissions: string[];
  targetTypeScopes: { [key: string]: TargetTypes };
  devices: boolean;
  revision: number;
  userId: number;
}

export interface SignInRequestInput {
  username?: string;
  password?: string;
}

export interface SignInRequest {
  username: string;
  password: string;
}

export interface SignInResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  subject?: string;
  permissions?: string[];
  revision?: number | string | Long;
  userId?: number | string | Long;
  targetTypeScopes?: { [key: string]: TargetTypesInput };
  generation?: number;
}

export interface SignInResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  subject: string;
  permissions: string[];
  revision: number;
  userId: number;
  targetTypeScopes: { [key: string]: TargetTypes };
  generation: number;
}

export interface TargetTypesInput {
  ids?: (number | string | Long)[];
}

export interface TargetTypes {
  ids: number[];
}

export type WatchPrincipalChangesRequestInput = Record<string, never>;

export type WatchPrincipalChangesRequest = Record<string, never>;

export interface WatchPrincipalChangesResponseInput {
  heartbeat?: boolean;
  tenantId?: number;
  userId?: number | string | Long;
  revision?: number | string | Long;
  tenant?: string;
}

export interface WatchPrincipalChangesResponse {
  heartbeat: boolean;
  tenantId: number;
  userId: number;
  revision: number;
  tenant: string;
}

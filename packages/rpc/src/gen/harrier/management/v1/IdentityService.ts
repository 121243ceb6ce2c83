// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  NoteApiKeyUsesRequest as _harrier_management_v1_NoteApiKeyUsesRequest,
  NoteApiKeyUsesRequestInput as _harrier_management_v1_NoteApiKeyUsesRequestInput,
} from "../../../harrier/management/v1/NoteApiKeyUsesRequest.ts";
import type {
  NoteApiKeyUsesResponse as _harrier_management_v1_NoteApiKeyUsesResponse,
  NoteApiKeyUsesResponseInput as _harrier_management_v1_NoteApiKeyUsesResponseInput,
} from "../../../harrier/management/v1/NoteApiKeyUsesResponse.ts";
import type {
  NoteRefusalsRequest as _harrier_management_v1_NoteRefusalsRequest,
  NoteRefusalsRequestInput as _harrier_management_v1_NoteRefusalsRequestInput,
} from "../../../harrier/management/v1/NoteRefusalsRequest.ts";
import type {
  NoteRefusalsResponse as _harrier_management_v1_NoteRefusalsResponse,
  NoteRefusalsResponseInput as _harrier_management_v1_NoteRefusalsResponseInput,
} from "../../../harrier/management/v1/NoteRefusalsResponse.ts";
import type {
  ReadTokenKeysRequest as _harrier_management_v1_ReadTokenKeysRequest,
  ReadTokenKeysRequestInput as _harrier_management_v1_ReadTokenKeysRequestInput,
} from "../../../harrier/management/v1/ReadTokenKeysRequest.ts";
import type {
  ReadTokenKeysResponse as _harrier_management_v1_ReadTokenKeysResponse,
  ReadTokenKeysResponseInput as _harrier_management_v1_ReadTokenKeysResponseInput,
} from "../../../harrier/management/v1/ReadTokenKeysResponse.ts";
import type {
  ResolveTokenRequest as _harrier_management_v1_ResolveTokenRequest,
  ResolveTokenRequestInput as _harrier_management_v1_ResolveTokenRequestInput,
} from "../../../harrier/management/v1/ResolveTokenRequest.ts";
import type {
  ResolveTokenResponse as _harrier_management_v1_ResolveTokenResponse,
  ResolveTokenResponseInput as _harrier_management_v1_ResolveTokenResponseInput,
} from "../../../harrier/management/v1/ResolveTokenResponse.ts";
import type {
  SignInClientRequest as _harrier_management_v1_SignInClientRequest,
  SignInClientRequestInput as _harrier_management_v1_SignInClientRequestInput,
} from "../../../harrier/management/v1/SignInClientRequest.ts";
import type {
  SignInClientResponse as _harrier_management_v1_SignInClientResponse,
  SignInClientResponseInput as _harrier_management_v1_SignInClientResponseInput,
} from "../../../harrier/management/v1/SignInClientResponse.ts";
import type {
  SignInRequest as _harrier_management_v1_SignInRequest,
  SignInRequestInput as _harrier_management_v1_SignInRequestInput,
} from "../../../harrier/management/v1/SignInRequest.ts";
import type {
  SignInResponse as _harrier_management_v1_SignInResponse,
  SignInResponseInput as _harrier_management_v1_SignInResponseInput,
} from "../../../harrier/management/v1/SignInResponse.ts";
import type {
  WatchPrincipalChangesRequest as _harrier_management_v1_WatchPrincipalChangesRequest,
  WatchPrincipalChangesRequestInput as _harrier_management_v1_WatchPrincipalChangesRequestInput,
} from "../../../harrier/management/v1/WatchPrincipalChangesRequest.ts";
import type {
  WatchPrincipalChangesResponse as _harrier_management_v1_WatchPrincipalChangesResponse,
  WatchPrincipalChangesResponseInput as _harrier_management_v1_WatchPrincipalChangesResponseInput,
} from "../../../harrier/management/v1/WatchPrincipalChangesResponse.ts";

export interface IdentityServiceDefinition extends grpc.ServiceDefinition {
  NoteApiKeyUses: MethodDefinition<
    _harrier_management_v1_NoteApiKeyUsesRequestInput,
    _harrier_management_v1_NoteApiKeyUsesResponseInput,
    _harrier_management_v1_NoteApiKeyUsesRequest,
    _harrier_management_v1_NoteApiKeyUsesResponse
  >;
  NoteRefusals: MethodDefinition<
    _harrier_management_v1_NoteRefusalsRequestInput,
    _harrier_management_v1_NoteRefusalsResponseInput,
    _harrier_management_v1_NoteRefusalsRequest,
    _harrier_management_v1_NoteRefusalsResponse
  >;
  ReadTokenKeys: MethodDefinition<
    _harrier_management_v1_ReadTokenKeysRequestInput,
    _harrier_management_v1_ReadTokenKeysResponseInput,
    _harrier_management_v1_ReadTokenKeysRequest,
    _harrier_management_v1_ReadTokenKeysResponse
  >;
  ResolveToken: MethodDefinition<
    _harrier_management_v1_ResolveTokenRequestInput,
    _harrier_management_v1_ResolveTokenResponseInput,
    _harrier_management_v1_ResolveTokenRequest,
    _harrier_management_v1_ResolveTokenResponse
  >;
  SignIn: MethodDefinition<
    _harrier_management_v1_SignInRequestInput,
    _harrier_management_v1_SignInResponseInput,
    _harrier_management_v1_SignInRequest,
    _harrier_management_v1_SignInResponse
  >;
  SignInClient: MethodDefinition<
    _harrier_management_v1_SignInClientRequestInput,
    _harrier_management_v1_SignInClientResponseInput,
    _harrier_management_v1_SignInClientRequest,
    _harrier_management_v1_SignInClientResponse
  >;
  WatchPrincipalChanges: MethodDefinition<
    _harrier_management_v1_WatchPrincipalChangesRequestInput,
    _harrier_management_v1_WatchPrincipalChangesResponseInput,
    _harrier_management_v1_WatchPrincipalChangesRequest,
    _harrier_management_v1_WatchPrincipalChangesResponse
  >;
}

// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type {
  ApiKeyUse as _harrier_management_v1_ApiKeyUse,
  ApiKeyUseInput as _harrier_management_v1_ApiKeyUseInput,
} from "../../../harrier/management/v1/ApiKeyUse.ts";

export interface NoteApiKeyUsesRequestInput {
  uses?: _harrier_management_v1_ApiKeyUseInput[];
}

export interface NoteApiKeyUsesRequest {
  uses: _harrier_management_v1_ApiKeyUse[];
}

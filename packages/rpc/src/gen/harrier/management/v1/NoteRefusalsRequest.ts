// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type {
  Refusal as _harrier_management_v1_Refusal,
  RefusalInput as _harrier_management_v1_RefusalInput,
} from "../../../harrier/management/v1/Refusal.ts";

export interface NoteRefusalsRequestInput {
  refusals?: _harrier_management_v1_RefusalInput[];
}

export interface NoteRefusalsRequest {
  refusals: _harrier_management_v1_Refusal[];
}

// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type {
  NewMetadata as _harrier_controller_v1_NewMetadata,
  NewMetadataInput as _harrier_controller_v1_NewMetadataInput,
} from "../../../harrier/controller/v1/NewMetadata.ts";

export interface AddMetadataRequestInput {
  controllerId?: string;
  entries?: _harrier_controller_v1_NewMetadataInput[];
  overwrite?: boolean;
}

export interface AddMetadataRequest {
  controllerId: string;
  entries: _harrier_controller_v1_NewMetadata[];
  overwrite: boolean;
}

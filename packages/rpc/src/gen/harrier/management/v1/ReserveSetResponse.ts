// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ReserveSetResponseInput {
  id?: number | string | Long;
  name?: string;
  version?: string;
  typeId?: number | string | Long;
  migrationStep?: boolean;
  revision?: number | string | Long;
}

export interface ReserveSetResponse {
  id: number;
  name: string;
  version: string;
  typeId: number;
  migrationStep: boolean;
  revision: number;
}

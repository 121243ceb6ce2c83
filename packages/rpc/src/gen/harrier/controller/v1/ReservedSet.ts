// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ReservedSetInput {
  id?: number | string | Long;
  name?: string;
  version?: string;
  typeId?: number | string | Long;
  migrationStep?: boolean;
}

export interface ReservedSet {
  id: number;
  name: string;
  version: string;
  typeId: number;
  migrationStep: boolean;
}

// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ActivateAutoConfirmRequestInput {
  controllerId?: string;
  initiator?: string;
  remark?: string;
  _initiator?: "initiator";
  _remark?: "remark";
}

export interface ActivateAutoConfirmRequest {
  controllerId: string;
  initiator?: string;
  remark?: string;
  _initiator?: "initiator";
  _remark?: "remark";
}

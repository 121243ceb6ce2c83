import { statement } from "@harrier/db";

/**
 * Creates a target without a user (contract device.md §3.2), its state and its event in one statement (functions/polls.sql). Of two first polls the
 * second inserts nothing. The target is not registered if the tenant has as many targets as it may have.
 */
export const callRegisterTarget = statement<
  [
    tenantId: number,
    tenant: string,
    id: number,
    controllerId: string,
    address: string | null,
    digest: Buffer,
    cipher: Buffer,
    max: number,
    traceparent: string | null,
  ],
  { registered: boolean }
>("controller.register_target", "select register_target($1, $2, $3, $4, $5, $6, $7, $8, $9) as registered");

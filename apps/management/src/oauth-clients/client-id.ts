/** Where the row of a client stands. */
export interface ClientKey {
  tenantId: number;
  id: number;
}

const form = /^oc_([1-9]\d{0,9})_([1-9]\d{0,14})$/;

/** Tenant and id out of a client id, which a token request names without a tenant; undefined: it can be nobody's. */
export function parseClientId(clientId: string): ClientKey | undefined {
  const parts = form.exec(clientId);
  if (parts === null) return undefined;
  const [tenantId, id] = [Number(parts[1]), Number(parts[2])];
  // int4 in the table
  return tenantId > 2_147_483_647 ? undefined : { tenantId, id };
}

/** By this name the log of credential changes knows a client: ids of users are positive, and 0 stands for all of the tenant. */
export const feedIdOf = (id: number): number => -id;

/** This names the row of a client. */
export interface ClientKey {
  tenantId: number;
  id: number;
}

const form = /^oc_([1-9]\d{0,9})_([1-9]\d{0,14})$/;

/** Reads tenant and id from a client id, because a token request names no tenant; undefined means that no client can have this id. */
export function parseClientId(clientId: string): ClientKey | undefined {
  const parts = form.exec(clientId);
  if (parts === null) return undefined;
  const [tenantId, id] = [Number(parts[1]), Number(parts[2])];
  // The column of the table is an int4.
  return tenantId > 2_147_483_647 ? undefined : { tenantId, id };
}

/** Returns the id of a client in the log of credential changes: ids of users are positive, and 0 stands for everybody of the tenant. */
export const feedIdOf = (id: number): number => -id;

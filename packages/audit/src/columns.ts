/** The columns of an entry, in the order of the tables and of the view `audit_v1`. */
export const entryColumns =
  "tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code";

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint::text`;

/** What `StoredEntry` is read by. */
export const storedEntry = `tenant_id as "tenantId", id::text, ${micros("at")} as at, actor_kind as "actorKind", actor, action, entity,
  entity_ids as "entityIds", source_ip as "sourceIp", request_id as "requestId", times, details, ${micros("ended_at")} as "endedAt", result, status,
  error_code as "errorCode"`;

/** What `BatchHead` is read by, and the hash that is claimed for it. */
export const storedBatch = `number, first_position as "firstPosition", last_position as "lastPosition", entries,
  ${micros("previous_sealed_at")} as "previousSealedAt", previous_hash as "previousHash", hash, ${micros("sealed_at")} as "sealedAt"`;

/** A moment out of microseconds, exactly. */
export const momentOf = (parameter: string): string => `('epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond')`;

export { micros };

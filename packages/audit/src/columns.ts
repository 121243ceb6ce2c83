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

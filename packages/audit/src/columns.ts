const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint::text`;

/** `StoredEntry` is read by these columns. */
export const storedEntry = `tenant_id as "tenantId", id::text, ${micros("at")} as at, actor_kind as "actorKind", actor, action, entity,
  entity_ids as "entityIds", source_ip as "sourceIp", request_id as "requestId", times, details, ${micros("ended_at")} as "endedAt", result, status,
  error_code as "errorCode"`;

/** `BatchHead` is read by these columns, with its stored hash. */
export const storedBatch = `number, first_position as "firstPosition", last_position as "lastPosition", entries,
  ${micros("previous_sealed_at")} as "previousSealedAt", previous_hash as "previousHash", hash, ${micros("sealed_at")} as "sealedAt"`;

/** Converts microseconds to a timestamp, exactly. */
export const momentOf = (parameter: string): string => `('epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond')`;

export { micros };

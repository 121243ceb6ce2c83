import { statement } from "@harrier/db";
import { devicePrincipal } from "../domain/codes.ts";

/**
 * A target that nobody has announced (contract device.md §3.2), its state and its event in one statement.
 * Of two first polls the second inserts nothing.
 */
export const insertDevice = statement<
  [
    tenantId: number,
    id: number,
    controllerId: string,
    address: string | null,
    digest: Buffer,
    cipher: Buffer,
    tenant: string,
    traceparent: string | null,
  ],
  never
>(
  "controller.insert_device",
  `with t as (
     insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, created_by, last_modified_by)
     values ($1, $2, $3, left($3, 128), 'Plug and Play target: ' || $3, $4, $5, $6, '${devicePrincipal}', '${devicePrincipal}')
     on conflict (tenant_id, controller_id) do nothing
     returning tenant_id, id, controller_id, name, revision
   ), s as (
     insert into target_state (tenant_id, target_id, update_status) select tenant_id, id, 1 from t
   )
   insert into outbox (tenant_id, topic, type, common, items, traceparent)
   select tenant_id, 'target-events', 'io.update.target.created.v1', json_build_object('tenant', $7::text),
          json_build_array(json_build_object(
            'subject', 'targets/' || controller_id, 'sequence', revision,
            'data', json_build_object('controllerId', controller_id, 'targetId', id, 'name', name,
                                      'updateStatus', 'registered', 'initiatedBy', '${devicePrincipal}'))),
          $8::text
     from t`,
);
